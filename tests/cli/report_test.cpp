// `neutra report`.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "tests/cli/command.h"
#include "tests/count.h"

namespace neutra::cli {
namespace {

TEST(Report, ReportsOfTwoProgramsAreRefusedBriefly) {
  const Folder folder;
  for (const char* fault : {"D6", "D7"}) {
    ASSERT_EQ(call({"search", fault, "--store", std::string(fault) + ".h5", "--budget-evaluations",
                    "1", "--replicas", "2", "--quiet"},
                   folder.path())
                  .exit,
              0);
  }
  const Called called = call({"report", "D7.h5", "D6.h5", "-o", "r.html"}, folder.path());
  EXPECT_TRUE(refused(called, 3, {"found D6 (", "allowed: D7 ("}));
  EXPECT_LT(called.err.size(), 300u) << called.err;
}

TEST(Report, CurvesOfReportsAreThoseOfTheSearch) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "150", "--quiet"},
                 folder.path())
                .exit,
            0);
  const auto curves = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"report", "D7.h5", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    return parse_json(called.out, "out");
  };
  EXPECT_TRUE(curves({})["curves"].is_null());
  const Json document = curves({"--curves", "2"});
  const Json& best = document["curves"];
  EXPECT_GE(best["compared"].get<int>(), 20);
  EXPECT_EQ(best["same"], best["compared"]);
  EXPECT_EQ(best["searched_with"], best["trained_with"]);
  EXPECT_EQ(best["programs"][0]["node"], 0);
  EXPECT_EQ(best["programs"][0]["epochs"].size(), 200u);
  const auto metrics = [&](std::int64_t id) {
    for (const Json& node : document["network"]["nodes"])
      if (node["id"] == id) return node["metrics"];
    return Json();
  };
  int fixes = 0;
  for (const Json& program : best["programs"]) {
    fixes += program["fixed"].get<bool>();
    ASSERT_EQ(program["replicas"].size(), 10u);
    const Json wanted = program["fixed"].get<bool>() ? document["network"]["fixed_metrics"]
                                                     : metrics(program["node"].get<std::int64_t>());
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(program["replicas"][i]["metric"], wanted[i]);
  }
  EXPECT_EQ(fixes, 1);
  EXPECT_EQ(curves({"--curves", "2", "--workers", "1"})["curves"], best);

  const Json one = curves({"--curves", "id:0", "--replicas", "1"})["curves"];
  ASSERT_EQ(one["programs"].size(), 2u);  // the buggy one and the known fix
  EXPECT_EQ(one["programs"][0]["replicas"].size(), 1u);
  EXPECT_EQ(one["compared"], 2);

  ASSERT_EQ(call({"network", "D7.h5", "--format", "tsv", "-o", "D7.tsv"}, folder.path()).exit, 0);
  const auto refuses = [&](const std::string& file, const std::string& curves, int exit,
                           const std::vector<std::string>& named) {
    EXPECT_TRUE(refused(call({"report", file, "--curves=" + curves}, folder.path()), exit, named));
  };
  refuses("D7.tsv", "1", 3, {"D7.tsv", "--curves", "a store"});
  for (const std::string wrong : {"x", "-1", "1,y", "1,,2", ",", "1.5", "id:", "id:x", "id"}) {
    refuses("D7.h5", wrong, 2, {"--curves: found"});
  }
  refuses("D7.h5", "0,99999", 2, {"--curves", "99999", " 0, "});
}

TEST(Report, ReportsOfSearchesAndRecordedNetworks) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "a.h5", "--budget-evaluations", "80", "-n", "3", "-q"},
                 folder.path(), 300)
                .exit,
            0);
  const std::string network = call({"network", "a.h5"}, folder.path()).out;
  folder.write("a.tsv", network);
  folder.write("a.csv", "fault,tool,answer,seconds\nD7,one,HLR,2\nD4,one,-,\n");
  const auto report = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "report");
    return call(words, folder.path());
  };
  const Called made = report({"a.h5", "-o", "a.html", "--answers", "a.csv"});
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.out + made.err, "");
  EXPECT_TRUE(has(folder.read("a.html"), {"<!DOCTYPE html>"}));
  EXPECT_EQ(report({"a.h5", "--answers", "a.csv"}).out, folder.read("a.html"));

  const Json json = parse_json(report({"a.h5", "--answers", "a.csv", "--json"}).out, "out");
  EXPECT_EQ(json["format"], "neutra-report");
  EXPECT_EQ(json["fault"]["id"], "D7");
  EXPECT_GE(json["generated"].get<int>(), 80);
  EXPECT_EQ(json["scores"]["tools"][0]["before"]["recall"], 1);
  EXPECT_EQ(json["provenance"]["search"]["seed"], 0);
  EXPECT_EQ(json["network"]["links"].size() + 1,
            static_cast<std::size_t>(std::count(network.begin(), network.end(), '\n')));
  const Json recorded = parse_json(report({"a.tsv", "--json"}).out, "out");
  EXPECT_EQ(recorded["known"], "HLR");
  EXPECT_EQ(recorded["generated"], nullptr);
  EXPECT_EQ(recorded["network"]["nodes"][1]["difference"],
            json["network"]["nodes"][1]["difference"]);

  // Mistakes; what is there stays as it is.
  const Called other = report({"a.h5", "--fault", "D4"});
  EXPECT_TRUE(refused(other, 3, {"a.h5", "D4"}));
  folder.write("b.csv", "fault,tool,answer\nD4,one,-\n");
  const Called none = report({"a.h5", "--answers", "b.csv"});
  EXPECT_TRUE(refused(none, 3, {"b.csv", "D7"}));
  EXPECT_EQ(report({"a.h5", "-o", "a.h5"}).exit, 2);
  EXPECT_EQ(report({"a.tsv", "-o", "a.tsv"}).exit, 2);
  EXPECT_EQ(report({"a.tsv", "-o", "a.csv", "--answers", "a.csv"}).exit, 2);
  EXPECT_EQ(folder.read("a.tsv"), network);
  EXPECT_EQ(report({"a.h5", "-o", "missing/a.html"}).exit, 3);
  EXPECT_EQ(report({"a.h5", "--study", "."}).exit, 3);
  EXPECT_EQ(report({"a.h5", "--format", "dot"}).exit, 2);

  // A network of no bundled fault, with names of any kind.
  folder.write("mine.tsv",
               "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
               "parent_node_param_string\tcurrent_node_param_string\tis_gt\n"
               "0\t1\t[0.1]\t[nan]\tlr=1\tlr=</script>\tTrue\n");
  const Called mine = report({"mine.tsv"});
  ASSERT_EQ(mine.exit, 0) << mine.err;
  EXPECT_TRUE(has(mine.out, {"\"lr\":\"\\u003c/script\\u003e\""}));
  EXPECT_FALSE(contains(mine.out, "lr=</script>"));
  EXPECT_EQ(report({"mine.tsv", "--answers", "a.csv"}).exit, 3);
}

}  // namespace
}  // namespace neutra::cli
