#include "evaluators/scores.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace neutra::evaluators {
namespace {

program::FaultSet faults(const std::string& text) { return program::parse_fault_set(text, "test"); }

Score score_of(const std::string& answer, const std::string& truth,
               const ScoreOptions& options = {}) {
  return score(faults(answer), faults(truth), options);
}

void expect(const Score& score, double recall, double precision) {
  EXPECT_DOUBLE_EQ(score.recall, recall);
  EXPECT_DOUBLE_EQ(score.precision, precision);
  EXPECT_DOUBLE_EQ(score.f, f_beta(precision, recall, 3));
}

TEST(FBeta, WeighsRecall) {
  EXPECT_EQ(f_beta(0, 0, 3), 0);
  EXPECT_EQ(f_beta(1, 1, 3), 1);
  EXPECT_DOUBLE_EQ(f_beta(0.25, 1, 3), 10 * 0.25 / 3.25);
  EXPECT_DOUBLE_EQ(f_beta(0.5, 0.2, 1), 2 * 0.5 * 0.2 / 0.7);
}

TEST(Score, TypesCountOnceAndLayersMustMeet) {
  expect(score_of("HLR, ACH, LCH", "LCH"), 1, 1. / 3);
  expect(score_of("ACH(0,1), HLR", "ACH(0,1), LCH, HLR"), 2. / 3, 1);
  expect(score_of("ACH(1), ACH(0)", "ACH(0,1)"), 1, 1);
  expect(score_of("ACH(0), BCI(0,1)", "ACH(0,1), LCH, HLR"), 1. / 3, 0.5);
  expect(score_of("ACH(2)", "ACH(0,1), LCH"), 0, 0);
  expect(score_of("ACH", "ACH(0,1), LCH"), 0.5, 1);
  expect(score_of("ACH(2)", "ACH"), 1, 1);
}

TEST(Score, NothingIsZero) {
  for (const char* answer : {"-", "N/A"}) expect(score_of(answer, "LCH"), 0, 0);
  expect(score_of("LCH", "-"), 0, 0);
}

TEST(Score, AChoiceIsOneItem) {
  expect(score_of("LRM|LAD|ACH(0), LCH", "ACH(0), HLR"), 0.5, 0.5);
  expect(score_of("LRM|LAD|ACH(0)", "LCH"), 0, 0);
}

TEST(Score, ByTypeAlone) {
  ScoreOptions options;
  options.match = Match::kType;
  options.unlocated = Unlocated::kExclude;
  expect(score_of("WCI(3)", "WCI(2)", options), 1, 1);
  expect(score_of("WCI", "WCI(2)", options), 1, 1);
}

TEST(Score, AnswersWithoutLayers) {
  ScoreOptions options;
  options.unlocated = Unlocated::kHalf;
  expect(score_of("ACH, HLR", "ACH(0), HLR", options), 0.75, 0.75);
  options.unlocated = Unlocated::kExclude;
  expect(score_of("ACH, HLR", "ACH(0), HLR", options), 0.5, 0.5);
  // Types that have no layer are not in question.
  expect(score_of("LCH", "LCH", options), 1, 1);
}

TEST(Score, OperatorsOfDeepCrimeAreKindsOfTheGeneralTypes) {
  expect(score_of("ARM(7)", "ACH(7)"), 1, 1);
  expect(score_of("HBS", "HDB"), 1, 1);
}

TEST(Score, PublishedRecallsAreRoundedFirst) {
  ScoreOptions options;
  options.variant = Variant::kAsPublished;
  const Score rounded = score_of("ACH(1)", "ACH(0,1), LCH, HLR", options);
  EXPECT_DOUBLE_EQ(rounded.recall, 0.33);
  EXPECT_DOUBLE_EQ(rounded.f, 10 * 0.33 / 9.33);
  EXPECT_EQ(score_of("WCI(3)", "WCI(2)", options).recall, 1);
  EXPECT_EQ(score_of("ACH(3)", "ACH(2)", options).recall, 0);
}

TEST(BestScore, MeansOverTheTruthsOfLargestRecall) {
  const program::FaultSet answer = faults("OCH, HLR");
  const std::vector<program::FaultSet> truths{faults("LCH, HLR"), faults("OCH"), faults("-"),
                                              faults("HLR, OCH"), faults("LCH")};
  const BestScore best = best_score(answer, truths, {});
  EXPECT_EQ(best.truths, 4);
  EXPECT_EQ(best.attaining, 2);
  EXPECT_EQ(best.score.recall, 1);
  EXPECT_DOUBLE_EQ(best.score.precision, 0.75);
  EXPECT_DOUBLE_EQ(best.score.f, (f_beta(0.5, 1, 3) + 1) / 2);
  // The order of the truths is nothing.
  auto reversed = truths;
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_DOUBLE_EQ(best_score(answer, reversed, {}).score.f, best.score.f);
}

TEST(BestScore, MoreTruthsNeverLowerRecall) {
  const std::vector<std::string> words{"ACH(0)", "ACH(1)", "LCH", "HLR", "OCH", "WCI(0,1)", "HNE"};
  // All answers and truths of up to three of these, in a fixed scrambled order.
  std::vector<program::FaultSet> sets;
  for (unsigned bits = 1; bits < 1u << words.size(); ++bits) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if ((bits * 73 % 128) >> i & 1) text += (text.empty() ? "" : ", ") + words[i];
    }
    if (std::count(text.begin(), text.end(), ' ') < 3) sets.push_back(by_type(faults(text)));
  }
  ASSERT_GT(sets.size(), 60u);
  for (const program::FaultSet& answer : sets) {
    std::vector<program::FaultSet> truths;
    double recall = 0;
    for (const program::FaultSet& truth : sets) {
      truths.push_back(truth);
      const BestScore best = best_score(answer, truths, {});
      ASSERT_GE(best.score.recall, recall);
      ASSERT_LE(best.attaining, best.truths);
      ASSERT_GE(best.score.f, 0);
      ASSERT_LE(best.score.f, 1);
      recall = best.score.recall;
    }
    ASSERT_EQ(recall, 1);  // the answer itself is among the truths
  }
}

TEST(BestScore, WithoutTruths) {
  EXPECT_EQ(best_score(faults("LCH"), {}, {}).score.f, 0);
  EXPECT_EQ(best_score(faults("LCH"), {faults("-")}, {}).truths, 0);
}

TEST(ByType, MergesLayersAndKeepsChoices) {
  EXPECT_EQ(to_string(by_type(faults("ACH(2), ACH(0), LRM|LAD, HLR"))), "ACH(0,2), HLR, LAD|LRM");
  EXPECT_FALSE(by_type(faults("N/A")).applicable);
}

Answer answer(const std::string& tool, const std::string& text) {
  Answer answer;
  answer.fault = "F";
  answer.tool = tool;
  answer.faults = faults(text);
  return answer;
}

TEST(LeavesLayersOut, DeepFDAndToolsThatNeverSayALayer) {
  EXPECT_TRUE(leaves_layers_out("DeepFD", {}));
  EXPECT_TRUE(leaves_layers_out("dfd", {answer("dfd", "LCH")}));
  EXPECT_TRUE(leaves_layers_out("mine", {answer("mine", "LCH"), answer("mine", "ACH")}));
  EXPECT_FALSE(leaves_layers_out("mine", {answer("mine", "LCH"), answer("other", "ACH")}));
  EXPECT_FALSE(leaves_layers_out("mine", {answer("mine", "ACH"), answer("mine", "WCI(0)")}));
}

TEST(Words, OfTheOptions) {
  EXPECT_EQ(parse_variant("as-published"), Variant::kAsPublished);
  EXPECT_EQ(parse_match("type"), Match::kType);
  EXPECT_EQ(parse_unlocated("half"), Unlocated::kHalf);
  EXPECT_EQ(parse_unlocated("none"), std::nullopt);
  EXPECT_EQ(to_string(Variant::kCorrected), "corrected");
  EXPECT_EQ(to_string(Match::kLayer), "layer");
  EXPECT_EQ(to_string(Unlocated::kExclude), "exclude");
}

}  // namespace
}  // namespace neutra::evaluators
