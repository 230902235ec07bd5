#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "base/json.h"
#include "graphs/debar.h"
#include "tests/graphs/graph_text.h"
#include "tests/shared_data.h"

namespace neutra::graphs::tests {
namespace {

Ranges ranges_of(const Json& entry) {
  Ranges ranges;
  for (const Json& placeholder : entry.at("placeholders")) {
    const Json* range = member(placeholder, "range");
    if (range && range->is_array())
      ranges.nodes[placeholder.at("name")] = {(*range)[0].get<double>(), (*range)[1].get<double>()};
  }
  return ranges;
}

struct Counts {
  int bugs = 0, found = 0, safe = 0, alarms = 0;
};

void count(const std::filesystem::path& folder, const Json& entry, DebarParts parts,
           const char* file, Counts& counts) {
  const Graph graph = read_tensorflow_graph(folder / entry.at(file).get<std::string>());
  const NumericAnalysis analysis =
      find_numeric_bugs(graph, infer_shapes(graph), ranges_of(entry), parts);
  for (const Json& op : entry.at("unsafe_ops")) {
    const std::string verdict = op.at("verdict");
    const auto number = graph.find(op.at("node").get<std::string>());
    ASSERT_TRUE(number);
    bool alarm = false;
    for (const NumericBug& bug : analysis.bugs) alarm = alarm || bug.node == *number;
    if (verdict == "bug") {
      ++counts.bugs;
      counts.found += alarm ? 1 : 0;
    }
    if (verdict == "safe" || verdict == "safe_in_range") {
      ++counts.safe;
      counts.alarms += alarm ? 1 : 0;
      if (alarm) std::cout << "alarm: " << entry.at("key") << " " << op.at("node") << "\n";
    }
    if (verdict == "bug" && !alarm)
      std::cout << "missed: " << entry.at("key") << " " << op.at("node") << "\n";
  }
}

Counts counts_of(DebarParts parts, const char* file) {
  const std::filesystem::path folder = neutra::tests::shared_data("graphs");
  const Json index = read_json(folder / "index.json");
  Counts counts;
  for (const char* list : {"graphs", "clean_twins"})
    for (const Json& entry : index.at(list)) count(folder, entry, parts, file, counts);
  return counts;
}

TEST(DebarData, FindsTheKnownBugsAndFewOthers) {
  if (!std::filesystem::exists(neutra::tests::shared_data("graphs"))) GTEST_SKIP() << "no data";
  for (const char* file : {"forward_graph", "graph"}) {
    const Counts counts = counts_of({}, file);
    EXPECT_GT(counts.bugs, 25);
    EXPECT_GE(counts.found * 10, counts.bugs * 9);
    EXPECT_LE(counts.alarms * 10, counts.safe);
    std::cout << file << ": found " << counts.found << " of " << counts.bugs << ", alarms "
              << counts.alarms << " of " << counts.safe << "\n";
  }
}

}  // namespace
}  // namespace neutra::graphs::tests
