// Neighbours in the recorded order: the published networks number programs in the order in which
// they were generated, so every recorded node id is a check of keys, values and their order.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/catalog.h"
#include "mutators/neighbours.h"
#include "tests/shared_data.h"
#include "tests/source_file.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

Json recorded_roots() {
  return read_json(source_file("tests/experiments/data/recorded_roots.json")).at("faults");
}

TEST(Enumeration, RootsAndTheirNeighboursAsRecorded) {
  const Json roots = recorded_roots();
  for (const auto& [id, facts] : roots.items()) {
    const Fault fault = load_fault(id);
    const program::Parameters& root = fault.space.base_parameters();
    EXPECT_EQ(program::to_string(root), facts.at("root").get<std::string>()) << id;
    const std::vector<mutators::Neighbour> all =
        mutators::neighbours(fault.space, root, mutators::Preset::kPaper);
    EXPECT_EQ(all.size(), facts.at("neighbours").get<std::size_t>()) << id;
    for (const auto& [node, change] : facts.at("kept").items()) {
      const mutators::Mutation& mutation =
          all.at(std::stoul(node) - 1).mutation;  // the root is node 0
      EXPECT_EQ(mutation.key + "=" + mutation.after, change.get<std::string>())
          << id << " node " << node;
    }
  }
}

/// One line of a published network.
struct Row {
  std::int64_t parent, child;
  double parent_mean, child_mean;
  std::string parent_parameters, child_parameters;
};

double mean_of_list(const std::string& list) {
  std::istringstream in(list.substr(1));
  double sum = 0, value = 0;
  int count = 0;
  for (char separator; in >> value; in >> separator) sum += value, ++count;
  return sum / count;
}

std::vector<Row> read_rows(const fs::path& file) {
  std::ifstream in(file);
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::vector<std::string> cell(6);
    for (std::string& text : cell) std::getline(fields, text, '\t');
    rows.push_back({std::stol(cell[0]), std::stol(cell[1]), mean_of_list(cell[2]),
                    mean_of_list(cell[3]), cell[4], cell[5]});
  }
  return rows;
}

fs::path records() { return neutra::tests::shared_data("flstudy/alt_gt"); }

/// Replays the search that made a published network: programs are dequeued first in, first out; the
/// (at most five) kept children that are strictly better than their parent are queued in the order
/// of the rows, down to depth 3. Returns the number of rows whose program has the recorded id.
int replay(const Fault& fault, const std::vector<Row>& rows, bool minimize) {
  std::map<std::int64_t, std::vector<Row>> children;
  for (const Row& row : rows) children[row.parent].push_back(row);
  struct Queued {
    std::int64_t id;
    program::Parameters parameters;
    int depth;
  };
  const std::string root = program::to_string(fault.space.base_parameters());
  EXPECT_EQ(root, rows.front().parent_parameters);
  std::set<std::string> visited{root};
  std::vector<std::string> by_id{root};
  std::deque<Queued> queue{{0, fault.space.base_parameters(), 0}};
  int found = 0;
  while (!queue.empty() && !children.empty()) {
    const Queued node = queue.front();
    queue.pop_front();
    for (const mutators::Neighbour& neighbour :
         mutators::neighbours(fault.space, node.parameters, mutators::Preset::kPaper)) {
      std::string text = program::to_string(neighbour.parameters);
      if (visited.insert(text).second) by_id.push_back(std::move(text));
    }
    const auto kept = children.extract(node.id);
    if (kept.empty()) continue;
    int queued = 0;
    for (const Row& row : kept.mapped()) {
      EXPECT_EQ(by_id.at(node.id), row.parent_parameters) << node.id;
      if (row.child < std::ssize(by_id) && by_id[row.child] == row.child_parameters) ++found;
      const double gain = (row.child_mean - row.parent_mean) * (minimize ? -1 : 1);
      if (gain > 1e-9 && node.depth < 3 && queued++ < 5) {
        queue.push_back(
            {row.child, program::parse_parameters(row.child_parameters, "record"), node.depth + 1});
      }
    }
  }
  EXPECT_TRUE(children.empty()) << "parent " << (children.empty() ? 0 : children.begin()->first)
                                << " is not reached";
  return found;
}

TEST(Enumeration, EveryRecordedNodeIdFollows) {
  // The published data name the MNIST faults differently from the paper.
  const std::map<std::string, std::string> files{
      {"31880720", "D1"}, {"48385830", "D4"}, {"51181393", "D7"}, {"C1", "C1"}, {"C2", "C2"},
      {"M1", "M3"},       {"M3", "M2"},       {"R1", "R1"},       {"R4", "R4"}, {"R5", "R5"}};
  if (!fs::exists(records())) GTEST_SKIP() << "the published networks are not at hand";
  std::size_t total = 0;
  for (const auto& [file, id] : files) {
    const std::vector<Row> rows = read_rows(records() / (file + ".tsv"));
    ASSERT_FALSE(rows.empty()) << file;
    EXPECT_EQ(replay(load_fault(id), rows, id == "D7"), std::ssize(rows)) << file;
    total += rows.size();
  }
  EXPECT_EQ(total, 817u);
}

}  // namespace
}  // namespace neutra::experiments
