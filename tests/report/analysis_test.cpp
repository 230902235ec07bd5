#include "report/analysis.h"

#include <gtest/gtest.h>

#include "tests/report/d7.h"

namespace neutra::report::tests {
namespace {

TEST(Report, CourseIsTheBestSoFarAndTheRepairs) {
  const Json course = report_document(d7_with_rejected())["course"];
  EXPECT_EQ(course, Json::parse(R"([
      {"evaluation": 1, "id": 0, "best": 6.0, "repairs": 0},
      {"evaluation": 2, "id": 1, "best": 5.0, "repairs": 0},
      {"evaluation": 9, "id": 8, "best": 0.2, "repairs": 1},
      {"evaluation": 10, "id": 9, "best": 0.1, "repairs": 2},
      {"evaluation": 11, "id": 10, "best": 0.1, "repairs": 2}])"));
  ReportInput maximised = d7_with_rejected();
  maximised.network.network.goal = program::Goal::kMaximize;
  EXPECT_EQ(report_document(maximised)["course"][1]["best"], 7);
}

TEST(Report, RejectedProgramsSayWhy) {
  ReportInput input = d7_with_rejected();
  const Json evaluated = report_document(input)["evaluated"];
  EXPECT_EQ(evaluated["evaluations"], 11);
  EXPECT_EQ(evaluated["waiting"], 1);
  EXPECT_EQ(evaluated["undecided"], 0);
  std::map<int, std::string> reasons;
  for (const Json& one : evaluated["rejected"]) reasons[one["id"]] = one["reason"];
  EXPECT_EQ(reasons, (std::map<int, std::string>{{2, "worse"},
                                                 {3, "curtailed"},
                                                 {4, "not_among_best"},
                                                 {5, "diverged"},
                                                 {6, "invalid"},
                                                 {7, "failed"},
                                                 {10, "no_better"}}));
  EXPECT_EQ(evaluated["reasons"]["worse"], 1);
  const Json& early = evaluated["rejected"][1];
  EXPECT_EQ(early["mean"], nullptr);
  EXPECT_EQ(early["metrics"], Json::parse("[9.0, 8.0]"));
  EXPECT_EQ(early["changes"], Json::parse(R"({"batch_size": "64"})"));
  EXPECT_EQ(early["before"], "32");
  EXPECT_NE(evaluated["rejected"][4]["detail"].get<std::string>().find("no_such_loss"),
            std::string::npos);
  // While a search goes on, the best of a parent may not be chosen yet.
  input.network.finished = false;
  input.network.network.nodes[11].parent = 0;
  EXPECT_EQ(report_document(input)["evaluated"]["undecided"], 1);
}

TEST(Report, EffectsAreOfSingleChanges) {
  const Json document = report_document(d7_with_rejected());
  std::map<std::string, Json> effects;
  for (const Json& one : document["effects"]) effects[one["key"]] = one;
  EXPECT_EQ(document["effects"][0]["key"], "lr");  // both of its changes repair
  EXPECT_EQ(effects["lr"]["tried"], 2);
  EXPECT_EQ(effects["lr"]["repairs"], 2);
  EXPECT_EQ(effects["lr"]["better"], 2);
  EXPECT_EQ(effects["epochs"]["better"], 1);
  EXPECT_EQ(effects["epochs"]["worse"], 1);
  EXPECT_EQ(effects["batch_size"]["equal"], 1);
  EXPECT_EQ(effects["batch_size"]["worse"], 1);
  EXPECT_EQ(effects["act1"]["tried"], 1);  // the other one waits
  EXPECT_EQ(effects["loss"]["tried"], 3);
  EXPECT_EQ(effects["loss"]["without_metric"], 2);
  EXPECT_GT(effects["lr"]["shift"].get<double>(), 0);
  EXPECT_LT(effects["loss"]["shift"].get<double>(), 0);
}

TEST(Report, ImportanceIsOfWhatWasTried) {
  const ReportInput input = d7_with_rejected();
  const Json importance = report_document(input)["importance"];
  EXPECT_EQ(importance["method"], "fanova_of_ranks");
  EXPECT_EQ(importance["programs"], 9);  // not those that are invalid, failed or waiting
  EXPECT_EQ(importance["keys"].size(), 5u);
  double sum = importance["together"].get<double>();
  for (const Json& one : importance["keys"]) {
    sum += one["share"].get<double>();
    if (one["key"] != "lr") continue;
    EXPECT_EQ(one["values"], Json::parse(R"(["0.001", "0.01", "0.1"])"));
    EXPECT_EQ(one["ordered"], true);
    EXPECT_GT(one["repair_share"].get<double>(), 0.5);
  }
  EXPECT_NEAR(sum, 1, 1e-3);
  EXPECT_EQ(report_document(input)["importance"], importance);
}

TEST(Report, FilesOfRowsKnowNothingOfRejectedPrograms) {
  ReportInput input = d7();
  input.network.header = {};
  const Json document = report_document(input);
  for (const char* name : {"evaluated", "effects", "importance"}) {
    EXPECT_EQ(document[name], nullptr) << name;
  }
  EXPECT_FALSE(document["tables"].contains("rejected"));
  EXPECT_GT(document["course"].size(), 1u);
}

}  // namespace
}  // namespace neutra::report::tests
