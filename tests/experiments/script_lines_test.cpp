#include "experiments/script_lines.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "experiments/fault_paths.h"
#include "experiments/network_file.h"
#include "experiments/scores/line_scores.h"
#include "experiments/scores/scoring.h"
#include "tests/error_of.h"
#include "tests/has.h"
#include "tests/source_file.h"

namespace neutra::experiments::tests {
namespace {

using evaluators::CodeLines;
using neutra::tests::error_of;
using neutra::tests::has;

/// tests/data/script: units in line 7, the learning rate in 10, layers 1 to 3 in 19 to 21, the
/// optimiser in 24, the loss in 25, epochs in 26. Layer 0 is the input.
const Fault& captured() {
  static const Fault fault = load_fault(source_file("tests/data/script/fault.json"));
  return fault;
}

std::string lines(const std::string& faults) {
  return lines_text(
      places_of(*captured().script, captured().buggy, program::parse_fault_set(faults, "test")));
}

TEST(FaultPaths, OfEveryKnownTypeOrNone) {
  std::set<std::string> types;
  for (const auto& [type, meaning] : program::fault_types()) types.insert(type);
  const Json file = read_json(resource_directory() / "fault_paths.json");
  for (const char* list : {"paths", "layer_fields"}) {
    for (const auto& [type, paths] : file.at(list).items()) {
      EXPECT_TRUE(types.contains(type)) << type;
    }
  }
  EXPECT_EQ(paths_of({"HLR", {}}, captured().buggy),
            std::vector<std::string>{"/compile/optimizer/config/learning_rate"});
  EXPECT_EQ(paths_of({"ACH", {2}}, captured().buggy),
            std::vector<std::string>{"/model/config/layers/2/config/activation"});
  EXPECT_EQ(paths_of({"ACH", {0}}, captured().buggy),
            std::vector<std::string>{"/model/config/layers/0"});  // an input has none
  EXPECT_EQ(paths_of({"LRM", {4}}, captured().buggy),
            std::vector<std::string>{"/model/config/layers/3"});
  EXPECT_EQ(paths_of({"LCN", {}}, captured().buggy).size(), 3U);
  EXPECT_TRUE(paths_of({"CPP", {}}, captured().buggy).empty());
}

/// What diff() finds has a place in the program, but for faults of data and of trained models.
TEST(FaultPaths, OfEveryFaultThatADifferenceMakes) {
  const Fault& fault = captured();
  for (const program::Key& key : fault.space.keys()) {
    EXPECT_FALSE(places_of(*fault.script, key).empty()) << key.name;
  }
}

TEST(ScriptLines, OfFaults) {
  EXPECT_EQ(lines("ACH(3)"), "train.py:21");
  EXPECT_EQ(lines("ACH(1,2)"), "train.py:19, train.py:20");
  EXPECT_EQ(lines("LCN(1)"), "train.py:7");
  EXPECT_EQ(lines("HLR"), "train.py:10");
  EXPECT_EQ(lines("OCH"), "train.py:24");
  EXPECT_EQ(lines("LCH, HNE"), "train.py:25, train.py:26");
  EXPECT_EQ(lines("LRM|LAD|ACH(3)"), "train.py:21");
  EXPECT_EQ(lines("LAD(2)"), "train.py:20");
  EXPECT_EQ(lines("LRM(4)"), "train.py:21");
  EXPECT_EQ(lines("BCI(1)"), "train.py:19");  // a default: the call that could give it
  EXPECT_EQ(lines("-"), "");
  EXPECT_EQ(lines("N/A"), "");
  EXPECT_EQ(lines("CPP"), "");
}

TEST(ScriptLines, OfFaultsWithoutLayersAreThoseThatTheScriptWrites) {
  EXPECT_EQ(lines("ACH"), "train.py:19, train.py:20, train.py:21");
  EXPECT_EQ(lines("LCN"), "train.py:7, train.py:20, train.py:21");
  EXPECT_EQ(lines("BCI"), "");
}

TEST(ScriptLines, PlacesAsJson) {
  const Json places = places_json(
      places_of(*captured().script, captured().buggy, program::parse_fault_set("LCN(1)", "test")));
  EXPECT_EQ(places, Json::parse(R"([{"file": "train.py", "line": 7, "column": 9, "end_line": 7,
                                     "end_column": 10, "kind": "variable"}])"));
  Json section = captured().script->section();
  section["places"] = {{{"path", "/fit"}, {"file", "a.py"}, {"line", 3}, {"kind", "computed"}}};
  const Script script(section, "f.json", "/script", "/");
  EXPECT_EQ(places_json(script.at("/fit/epochs"))[0]["column"], nullptr);
}

TEST(ScriptLines, OfAChangeOfHyperparameters) {
  const program::ProgramSpace& space = captured().space;
  const auto change = [&](const program::Parameters& changes) {
    return lines_text(places_of_change(*captured().script, space, space.base_parameters(),
                                       space.with_changes(changes)));
  };
  EXPECT_EQ(change({}), "");
  EXPECT_EQ(change({{"act3", "sigmoid"}}), "train.py:21");
  EXPECT_EQ(change({{"lr", "0.1"}, {"unit1", "16"}, {"epochs", "10"}}),
            "train.py:7, train.py:10, train.py:26");
  EXPECT_EQ(change({{"layer1", "2"}}), "train.py:19");
}

// --- scores by line ---

TEST(LineScores, LinesOverlap) {
  EXPECT_TRUE(overlap({"a.py", 3, 3}, {"a.py", 1, 3}, "s.py"));
  EXPECT_TRUE(overlap({"", 3, 5}, {"s.py", 5, 9}, "s.py"));
  EXPECT_FALSE(overlap({"", 3, 5}, {"a.py", 5, 9}, "s.py"));
  EXPECT_FALSE(overlap({"a.py", 3, 4}, {"a.py", 5, 9}, "s.py"));
}

TEST(LineScores, AnAnswerIsRightWhenAnyOfItsLinesIs) {
  const std::vector<CodeLines> truth{{"a.py", 3, 3}, {"a.py", 8, 9}};
  const auto score = [&](const std::vector<CodeLines>& answer) {
    return line_score(answer, truth, "a.py", 3);
  };
  EXPECT_EQ(score({{"a.py", 9, 9}}).recall, 1);
  EXPECT_EQ(score({{"a.py", 9, 9}}).precision, 1);
  EXPECT_EQ(score({{"", 3, 3}, {"", 4, 4}, {"", 5, 5}, {"b.py", 3, 3}}).recall, 1);
  EXPECT_EQ(score({{"", 3, 3}, {"", 4, 4}, {"", 5, 5}, {"b.py", 3, 3}}).precision, 0.25);
  EXPECT_NEAR(score({{"", 3, 3}, {"", 4, 4}, {"", 5, 5}, {"b.py", 3, 3}}).f, 10 * .25 / 3.25,
              1e-12);
  EXPECT_EQ(score({{"a.py", 4, 4}}).recall, 0);
  EXPECT_EQ(score({}).f, 0);
  EXPECT_EQ(line_score({{"a.py", 3, 3}}, {}, "a.py", 3).recall, 0);
}

/// The captured fault with two repairs: act3=sigmoid, and lr and epochs together.
ScoredFault searched() {
  ScoredFault scored{captured(), search::Network{}, "n.h5"};
  const program::ProgramSpace& space = scored.fault.space;
  const std::vector<program::Parameters> changes{
      {}, {{"act3", "sigmoid"}}, {{"lr", "0.1"}, {"epochs", "10"}}, {{"unit1", "16"}}};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    search::Node node;
    node.id = static_cast<std::int64_t>(i);
    node.parameters = space.with_changes(changes[i]);
    node.alternative = i == 1 || i == 2;
    node.status = "ok";
    scored.network->nodes.push_back(node);
    if (i > 0) scored.network->edges.push_back({0, node.id});
  }
  return scored;
}

ScoreSheet sheet_of(const ScoredFault& scored, const std::string& answers,
                    evaluators::Match match = evaluators::Match::kLine) {
  evaluators::ScoreOptions options;
  options.match = match;
  return score_answers({scored}, evaluators::parse_answers(answers, "a.csv"), options);
}

TEST(LineScores, AnswersAgainstAllRepairs) {
  const ScoreSheet sheet = sheet_of(searched(),
                                    "fault,tool,answer,lines,ranking\n"
                                    "captured,right,ACH(3),,\n"
                                    "captured,half,\"HLR, LCH\",,\n"
                                    "captured,wrong,ACH(1),,\n"
                                    "captured,own,ACH(1),train.py:26,\n"
                                    "captured,none,-,,\n"
                                    "captured,data,CPP,,\n"
                                    "captured,ranks,-,,(1) > (3) > HLR\n");
  const auto row = [&](const std::string& tool) { return *sheet.find("captured", tool); };
  // No fix is known.
  EXPECT_EQ(row("right").before.recall, 0);
  EXPECT_EQ(row("right").after.truths, 2);
  EXPECT_EQ(row("right").after.attaining, 1);
  EXPECT_EQ(row("right").after.score.recall, 1);
  EXPECT_EQ(row("right").after.score.precision, 1);
  EXPECT_EQ(evaluators::to_string(row("right").lines), "train.py:21");
  EXPECT_EQ(row("half").after.score.recall, 1);
  EXPECT_EQ(row("half").after.score.precision, 0.5);
  EXPECT_EQ(row("wrong").after.score.recall, 0);
  EXPECT_EQ(row("own").after.score.recall, 1);
  EXPECT_EQ(evaluators::to_string(row("own").lines), "train.py:26");
  for (const char* tool : {"none", "data"}) EXPECT_EQ(row(tool).after.score.recall, 0) << tool;
  ASSERT_TRUE(row("ranks").ranks);
  EXPECT_EQ(row("ranks").ranks->after.first, 2);
  EXPECT_EQ(row("ranks").ranks->after.average_precision, 0.5);
  EXPECT_EQ(row("ranks").after.score.recall, 0);  // its first place alone
  ASSERT_EQ(sheet.repairs.size(), 2U);
  EXPECT_EQ(evaluators::to_string(sheet.repairs[0].lines), "train.py:21");
  EXPECT_EQ(evaluators::to_string(sheet.repairs[1].lines), "train.py:10; train.py:26");
}

TEST(LineScores, TheKnownFixCountsByItsHyperparametersOrFaults) {
  ScoredFault scored = searched();
  scored.network.reset();
  scored.fault.fixed_parameters = scored.fault.space.with_changes({{"epochs", "10"}});
  EXPECT_EQ(sheet_of(scored, "fault,tool,answer\ncaptured,a,HNE\n").rows[0].before.recall, 1);
  EXPECT_EQ(sheet_of(scored, "fault,tool,answer\ncaptured,a,HLR\n").rows[0].before.recall, 0);
  scored.fault.fixed_parameters.reset();
  scored.fault.declared = program::parse_fault_set("HLR", "test");
  EXPECT_EQ(sheet_of(scored, "fault,tool,answer\ncaptured,a,HLR\n").rows[0].before.recall, 1);
}

TEST(LineScores, OtherMatchesDoNotLookAtLines) {
  const std::string answers = "fault,tool,answer,lines\ncaptured,a,ACH(1),train.py:21\n";
  EXPECT_EQ(sheet_of(searched(), answers, evaluators::Match::kType).rows[0].after.score.recall, 1);
  EXPECT_EQ(sheet_of(searched(), answers, evaluators::Match::kLayer).rows[0].after.score.recall, 0);
}

TEST(LineScores, AFaultWithoutAScriptIsRefused) {
  const ScoredFault scored{load_fault("D7"), std::nullopt, ""};
  EXPECT_TRUE(has(error_of([&] { sheet_of(scored, "fault,tool,answer\nD7,a,HLR\n"); }),
                  {"D7.json: /script", "--match type, layer"}));
  EXPECT_TRUE(sheet_of(scored, "fault,tool,answer\nD7,a,HLR\n", evaluators::Match::kLayer)
                  .rows[0]
                  .lines.empty());
}

}  // namespace
}  // namespace neutra::experiments::tests
