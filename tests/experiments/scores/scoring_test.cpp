#include "experiments/scores/scoring.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/csv_table.h"
#include "base/error.h"
#include "experiments/network_file.h"
#include "experiments/scores/score_report.h"
#include "tests/experiments/scores/study.h"

namespace neutra::experiments::tests {
namespace {

namespace fs = std::filesystem;

TEST(GroundTruths, KnownFaultsAreDeclaredOrFound) {
  const Fault d9 = load_fault("D9");
  EXPECT_EQ(to_string(known_faults(d9, evaluators::Variant::kAsPublished)), "ACH(5,6), CPP, HBS");
  EXPECT_EQ(to_string(known_faults(d9, evaluators::Variant::kCorrected)), "ACH(0,2), CPP, HBS");
  const ScoredFault d4{load_fault("D4"), std::nullopt, ""};
  const auto published = ground_truths(d4, evaluators::Variant::kAsPublished);
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(to_string(published[0]), "ACH(0), ACH(1), HLR, LCH");
  EXPECT_EQ(to_string(ground_truths(d4, evaluators::Variant::kCorrected)[0]), "ACH(0,1), HLR, LCH");
}

/// The published columns, with the recorded spelling of D9: unit2 and layer2 are those of the Dense
/// of 128, the third parametric layer, and convolutions without an activation have None.
TEST(GroundTruths, ARecordOfD9) {
  const std::string root =
      "act1=None,act2=None,act3=relu,act4=softmax,batch_size=32,bi1=zeros,bi2=zeros,bi3=zeros,"
      "bi4=zeros,epochs=10,ki1=glorot_uniform,ki2=glorot_uniform,ki3=glorot_uniform,"
      "ki4=glorot_uniform,layer2=1,loss=sparse_categorical_crossentropy,lr=0.001,optimizer=adam,"
      "unit2=128";
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = root;
    return text.replace(text.find(before), before.size(), after);
  };
  const auto row = [&](int id, const std::string& child, const char* repaired) {
    return "0\t" + std::to_string(id) + "\t[0.1, 0.1]\t[0.2, 0.3]\t" + root + "\t" + child + "\t" +
           repaired + "\n";
  };
  const fs::path file = fs::path(testing::TempDir()) / "d9_record.tsv";
  const auto write = [&](const std::string& text) {
    std::ofstream(file) << "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
                           "parent_node_param_string\tcurrent_node_param_string\tis_gt\n"
                        << text;
  };
  write(row(9, with("act1=None", "act1=relu"), "True") +
        row(17, with("unit2=128", "unit2=64"), "False") +
        row(21, with("layer2=1", "layer2=0"), "True"));
  // The root alone says which fault it is of.
  const NetworkFile read = read_network_file(file, std::nullopt);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(read.fault->id, "D9");
  EXPECT_EQ(program::to_string(read.fault->space.base_parameters()), root);
  const auto truths =
      ground_truths({*read.fault, read.network, file.string()}, evaluators::Variant::kCorrected);
  ASSERT_EQ(truths.size(), 3u);
  EXPECT_EQ(to_string(truths[1]), "ACH(0)");
  EXPECT_EQ(to_string(truths[2]), "LAD(5)");
  const auto published =
      ground_truths({*read.fault, read.network, file.string()}, evaluators::Variant::kAsPublished);
  ASSERT_EQ(published.size(), 3u);

  // Networks that were written with other numbers and words are read as well.
  std::string other = row(9, with("act1=None", "act1=relu"), "True");
  for (const auto& [now, then] :
       {std::pair("layer2", "layer3"), {"unit2", "unit3"}, {"None", "linear"}}) {
    for (std::size_t at = 0; (at = other.find(now, at)) != std::string::npos; ++at) {
      other.replace(at, std::string(now).size(), then);
    }
  }
  write(other);
  const NetworkFile older = read_network_file(file, load_fault("D9"));
  EXPECT_EQ(to_string(ground_truths({*older.fault, older.network, ""},
                                    evaluators::Variant::kCorrected)[1]),
            "ACH(0)");
  fs::remove(file);
}

TEST(GroundTruths, OfEachVariant) {
  const ScoredFault d1{load_fault("D1"), std::nullopt, ""};
  const program::Parameters changes =
      program::parse_parameters("act3=sigmoid,layer2=2,lr=0.01", "");
  const program::Parameters& root = d1.fault.space.base_parameters();
  EXPECT_EQ(to_string(evaluators::changed_hyperparameters(d1.fault.space, root,
                                                          d1.fault.space.with_changes(changes))),
            "ACH(7), HLR, LAD(3)|LRM(3)");
}

TEST(ScoreAnswers, SheetOfTheSevenNetworks) {
  const auto faults = excerpts();
  auto answers = study_answers();
  const ScoreSheet sheet = score_answers(faults, answers, {});
  EXPECT_EQ(sheet.tools, kTools);
  EXPECT_EQ(sheet.rows.size(), 28u);
  EXPECT_TRUE(sheet.missing.empty());
  EXPECT_EQ(sheet.averages.size(), 12u);
  EXPECT_EQ(sheet.comparisons.size(), 6u);
  ASSERT_TRUE(sheet.order);
  EXPECT_EQ(sheet.order->before.blocks, 7u);
  ASSERT_EQ(sheet.order->after.mean_ranks.size(), 4u);
  for (const ToolComparison& pair : sheet.comparisons) {
    EXPECT_GE(pair.before_holm, pair.before.p);
    EXPECT_GE(pair.after_holm, pair.after.p);
    EXPECT_TRUE(pair.before_nemenyi && pair.after_nemenyi);
  }
  EXPECT_EQ(sheet.find("D1", "umlaut")->after.truths, 93);
  for (const ScoreRow& row : sheet.rows) {
    EXPECT_GE(row.after.score.recall, row.before.recall) << row.fault << row.tool;
  }
  const ScoreAverage& real = sheet.averages[4];
  EXPECT_EQ(real.of + real.tool, "realdeepfd");
  EXPECT_EQ(real.faults, 3);

  answers.erase(std::remove_if(answers.begin(), answers.end(),
                               [](const evaluators::Answer& answer) {
                                 return answer.fault == "D4" && answer.tool == "umlaut";
                               }),
                answers.end());
  const ScoreSheet gap = score_answers(faults, answers, {});
  EXPECT_EQ(gap.missing, std::vector<std::string>{"umlaut on D4"});
  EXPECT_EQ(gap.rows.size(), 27u);
  EXPECT_EQ(gap.find("D4", "umlaut"), nullptr);
  EXPECT_EQ(gap.order->before.blocks, 6u);  // the faults that all tools answered

  const std::string text = evaluators::write_text(score_report(gap, Layout::kWide));
  EXPECT_NE(text.find("D4           3  0.00  0.00  0.00  0.33"), std::string::npos) << text;
  const CsvTable csv =
      parse_csv_table(evaluators::write_csv(score_report(gap, Layout::kOneTable)), "scores.csv");
  EXPECT_EQ(csv.rows.size(), 27u + 12);
  const Json json =
      parse_json(evaluators::write_json(score_report(gap, Layout::kLong)), "scores.json");
  EXPECT_EQ(json.at("format"), "neutra-scores");
  EXPECT_EQ(json.at("scores").size(), 27u);
  EXPECT_EQ(json.at("averages").size(), 12u);
  EXPECT_EQ(json.at("comparisons").size(), 6u);
  EXPECT_EQ(json.at("friedman").size(), 2u);
  EXPECT_EQ(json.at("mean_ranks").size(), 4u);
}

TEST(ScoreAnswers, AgainstSmallRepairsAlone) {
  ScoredFault d7{load_fault("D7"), search::Network{}, "D7.h5"};
  const program::ProgramSpace& space = d7.fault.space;
  search::Network& network = *d7.network;
  network.goal = program::Goal::kMinimize;
  const auto add = [&](std::vector<search::Node>& nodes, std::int64_t id,
                       const std::string& changes, bool repair) {
    search::Node node;
    node.id = id;
    node.parameters = space.with_changes(changes.empty() ? program::Parameters{}
                                                         : program::parse_parameters(changes, ""));
    node.status = "ok";
    node.mean = repair ? 0.1 : 5;
    node.alternative = repair;
    nodes.push_back(std::move(node));
  };
  add(network.nodes, 0, "", false);
  add(network.nodes, 1, "lr=0.01", true);
  add(network.nodes, 2, "batch_size=16,lr=0.01", true);  // adds a change
  add(network.nodes, 3, "epochs=400,unit1=32", true);    // not known
  add(network.nodes, 4, "epochs=400", false);
  const auto truths = [&] {
    std::vector<std::string> texts;
    for (const program::FaultSet& truth : ground_truths(d7, evaluators::Variant::kCorrected)) {
      texts.push_back(to_string(truth));
    }
    return texts;
  };
  using Texts = std::vector<std::string>;
  const Texts all = truths();
  EXPECT_EQ(all.size(), 4u);
  d7.minimal = true;
  EXPECT_EQ(truths(), (Texts{"HLR", "HLR", all[3]}));  // the fix, 1-minimal, not known
  add(network.subpatches, -1, "unit1=32", true);       // so 3 only adds a change to it
  EXPECT_EQ(truths(), (Texts{"HLR", "HLR", "LCN(0)"}));
  evaluators::Answer answer;
  answer.fault = "D7";
  answer.tool = "tool";
  const ScoreSheet sheet = score_answers({d7}, {answer}, {});
  ASSERT_EQ(sheet.repairs.size(), 4u);
  EXPECT_TRUE(sheet.repairs[1].counts);
  EXPECT_EQ(sheet.repairs[1].node, "m1");
  EXPECT_FALSE(sheet.repairs[2].counts);
  EXPECT_EQ(sheet.repairs[2].size, Json::parse(R"({"minimal": false, "changes": 2, "within": 1})"));
  const Json json =
      parse_json(evaluators::write_json(score_report(sheet, Layout::kLong)), "scores");
  EXPECT_EQ(json["minimal"], true);
  EXPECT_EQ(json["repairs"][0]["minimal"], true);
}

TEST(ScoreAnswers, ToolsInOrder) {
  const std::vector<ScoredFault> faults = {{load_fault("D7"), std::nullopt, ""},
                                           {load_fault("D4"), std::nullopt, ""},
                                           {load_fault("D6"), std::nullopt, ""}};
  std::vector<evaluators::Answer> answers;
  const auto add = [&](const char* fault, const char* tool, const char* text) {
    evaluators::Answer answer;
    answer.fault = fault;
    answer.tool = tool;
    answer.faults = program::parse_fault_set(text, "");
    answers.push_back(std::move(answer));
  };
  for (const char* fault : {"D7", "D4", "D6"}) {
    add(fault, "some", "HLR");
    add(fault, "none", "N/A");
    add(fault, "never", "N/A");
  }
  const ScoreSheet sheet = score_answers(faults, answers, {});
  ASSERT_TRUE(sheet.order);
  EXPECT_EQ(sheet.order->before.mean_ranks, (std::vector<double>{1, 2.5, 2.5}));
  EXPECT_EQ(sheet.order->before.chi_square, 6);  // all faults say the same
  answers.erase(answers.begin() + 3, answers.end());
  EXPECT_FALSE(score_answers(faults, answers, {}).order);  // one fault
  answers.clear();
  add("D7", "some", "HLR"), add("D4", "some", "HLR"), add("D7", "none", "-");
  add("D4", "none", "-");
  EXPECT_FALSE(score_answers(faults, answers, {}).order);  // two tools
}

TEST(ScoreAnswers, OneFaultHasNoAverages) {
  const ScoreSheet sheet =
      score_answers({{load_fault("D4"), std::nullopt, ""}}, study_answers(), {});
  EXPECT_EQ(sheet.rows.size(), 4u);
  EXPECT_TRUE(sheet.averages.empty());
  EXPECT_TRUE(sheet.comparisons.empty());
  EXPECT_DOUBLE_EQ(sheet.find("D4", "umlaut")->before.recall, 2. / 3);
  EXPECT_EQ(sheet.find("D4", "umlaut")->after.truths, 1);
}

}  // namespace
}  // namespace neutra::experiments::tests
