#include "evaluators/mutation_score.h"

#include <gtest/gtest.h>

#include <set>

namespace neutra::evaluators {
namespace {

constexpr SearchRange kPercent{0, 100, 5, 0};

/// The search of a set that kills from `limit` on towards the severe end, without enough power at
/// the values `weak`. Survivors have none either.
BinarySearch searched(double limit, const std::set<double>& weak = {},
                      const SearchRange& range = kPercent) {
  return bisect(range, KillVariant::kCorrected, [&](double value, std::optional<double>) {
    KillVerdict verdict;
    verdict.killed = range.severe < range.harmless ? value <= limit : value >= limit;
    verdict.stable = verdict.killed && !weak.contains(value);
    return verdict;
  });
}
// Training rows that kill from 20 on: 100, 50, 25 killed, 12, 18 not, 22 killed.
const BinarySearch kTrain = searched(20);

TEST(RangeScore, DistanceToTheSevereEnd) {
  // 100 killed, 50 not, 75, 62 killed, 56, 59 not.
  const BinarySearch test = searched(60);
  const OperatorScore score = range_score(kPercent, KillVariant::kCorrected, kTrain, test);
  EXPECT_DOUBLE_EQ(score.score.value(), (100.0 - 62) / (100 - 22));
  // That milder ones survive makes the kills no less certain: the operator counts.
  EXPECT_EQ(score.instability, 0);
  EXPECT_EQ(mutation_score(std::vector{score}), score.score);
  // The published tool rounds, and takes the last survivor for uncertain:
  // (59 - 22) / 78 + (62 - 22) / 78.
  const OperatorScore published = range_score(kPercent, KillVariant::kAsPublished, kTrain, test);
  EXPECT_DOUBLE_EQ(published.score.value(), 0.49);
  EXPECT_DOUBLE_EQ(published.instability, 0.47 + 0.51);
}

TEST(RangeScore, AtTheEnds) {
  const auto corrected = KillVariant::kCorrected, published = KillVariant::kAsPublished;
  const BinarySearch none = searched(200), severe = searched(100);
  // The training set kills nothing: left out.
  EXPECT_EQ(range_score(kPercent, corrected, none, kTrain).score, std::nullopt);
  // The test set kills nothing, which is certain.
  EXPECT_EQ(range_score(kPercent, corrected, kTrain, none).score, 0);
  EXPECT_EQ(range_score(kPercent, corrected, kTrain, none).instability, 0);
  EXPECT_EQ(range_score(kPercent, published, kTrain, none).score, 0);
  EXPECT_EQ(range_score(kPercent, published, kTrain, none).instability, 2);
  EXPECT_EQ(range_score(kPercent, corrected, severe, none).score, 0);
  EXPECT_EQ(range_score(kPercent, published, severe, none).score, 1);  // taken for killed
  // The training set kills the severe end alone.
  EXPECT_EQ(range_score(kPercent, corrected, severe, kTrain).score, 1);
  EXPECT_EQ(range_score(kPercent, published, severe, kTrain).score, std::nullopt);
  EXPECT_EQ(range_score(kPercent, corrected, severe, severe).score, 1);
  // Better than the training set is no more than as good.
  EXPECT_EQ(range_score(kPercent, corrected, searched(40), kTrain).score, 1);
}

TEST(RangeScore, FallingRange) {
  const SearchRange rate{1, 0, 0.1, 3};
  // Killed from 0.75 and from 0.375 on.
  const BinarySearch train = searched(0.8, {}, rate), test = searched(0.4, {}, rate);
  for (const KillVariant variant : {KillVariant::kCorrected, KillVariant::kAsPublished}) {
    EXPECT_DOUBLE_EQ(range_score(rate, variant, train, test).score.value(), 0.5);
  }
  EXPECT_EQ(range_score(rate, KillVariant::kCorrected, train, test).instability, 0);
}

TEST(RangeScore, Instability) {
  const auto instability = [](const BinarySearch& test, const BinarySearch& train = kTrain) {
    return range_score(kPercent, KillVariant::kCorrected, train, test).instability;
  };
  // Of 100, 50, 44 and 41, which are killed, 41 has too little power:
  // (41 - 22) / 78 + (44 - 22) / 78.
  const BinarySearch test = searched(40, {41});
  EXPECT_DOUBLE_EQ(instability(test), 41.0 / 78);
  EXPECT_DOUBLE_EQ(range_score(kPercent, KillVariant::kAsPublished, kTrain, test).instability,
                   0.24 + 0.28);
  // The mirror image: the same for a range that falls.
  const SearchRange falling{100, 0, 5, 0};
  EXPECT_DOUBLE_EQ(range_score(falling, KillVariant::kCorrected, searched(80, {}, falling),
                               searched(60, {59}, falling))
                       .instability,
                   41.0 / 78);
  // No kill with power at all, or a more severe one without than the mildest with.
  EXPECT_EQ(instability(searched(40, {100, 50, 44, 41})), 2);
  EXPECT_EQ(instability(searched(40, {100})), 2);
  // What is milder than all that the training set kills takes nothing from the score.
  EXPECT_EQ(instability(test, searched(60)), 0);
}

ConfigurationVerdict configuration(bool train, bool train_stable, bool test,
                                   bool test_stable = true) {
  ConfigurationVerdict v;
  v.train.killed = train;
  v.train.stable = train_stable;
  v.test.killed = test;
  v.test.stable = test_stable;
  return v;
}

TEST(ListScore, ShareOfWhatTrainingKills) {
  const std::vector<ConfigurationVerdict> verdicts{
      configuration(true, true, true), configuration(true, true, false),
      configuration(false, true, true), configuration(true, false, true)};
  const OperatorScore score = list_score(verdicts, KillVariant::kCorrected);
  EXPECT_DOUBLE_EQ(score.score.value(), 0.5);
  EXPECT_EQ(score.instability, 0);
}

TEST(ListScore, PublishedMissesTheNextAfterOneThatItDrops) {
  const std::vector<ConfigurationVerdict> verdicts{configuration(true, false, true),
                                                   configuration(true, false, true),
                                                   configuration(true, true, false)};
  EXPECT_EQ(list_score(verdicts, KillVariant::kCorrected).score, 0);
  EXPECT_EQ(list_score(verdicts, KillVariant::kAsPublished).score, 0.5);
}

TEST(ListScore, NothingToCompare) {
  EXPECT_EQ(list_score({}, KillVariant::kCorrected).score, std::nullopt);
  const std::vector<ConfigurationVerdict> uncertain{configuration(true, false, true)};
  EXPECT_EQ(list_score(uncertain, KillVariant::kCorrected).score, std::nullopt);
  EXPECT_EQ(list_score(uncertain, KillVariant::kAsPublished).score, 0);
}

TEST(ListScore, Instability) {
  const std::vector<ConfigurationVerdict> verdicts{configuration(true, true, true),
                                                   configuration(true, true, true, false)};
  const OperatorScore score = list_score(verdicts, KillVariant::kCorrected);
  EXPECT_EQ(score.score, 1);
  EXPECT_EQ(score.instability, 0.5);
}

TEST(MutationScore, MeanOfStableOperators) {
  const std::vector<OperatorScore> operators{{1.0, 0}, {0.5, 0}, {0.1, 0.2}, {std::nullopt, 0}};
  EXPECT_EQ(mutation_score(operators), 0.75);
  EXPECT_EQ(mutation_score({}), std::nullopt);
}

TEST(Triviality, MeanKillingProbability) {
  using Run = std::vector<bool>;
  const std::vector<Run> original{{true, true, false, true}, {true, true, true, false}};
  const std::vector<Run> mutant{{false, true, false, false}, {false, false, true, false}};
  const KillCounts counts = kill_counts(original, mutant);
  EXPECT_EQ(counts.runs, 2u);
  EXPECT_EQ(counts.inputs, (std::vector<std::size_t>{2, 1, 0, 1}));
  EXPECT_DOUBLE_EQ(triviality(counts), 0.5);
  EXPECT_EQ(triviality({}), 0);
}

/// `always` inputs that kill in each of 20 runs, the others in none.
KillCounts kills_first(std::size_t always, std::size_t inputs = 200) {
  KillCounts counts{20, std::vector<std::size_t>(inputs, 0)};
  std::fill_n(counts.inputs.begin(), always, std::size_t{20});
  return counts;
}

TEST(Redundancy, WhatKillsOneKillsTheOther) {
  // Whatever kills the first kills the second: the second adds nothing.
  const std::vector<KillCounts> mutants{kills_first(50), kills_first(150)};
  EXPECT_EQ(redundant(mutants), (std::vector<bool>{false, true}));
}

TEST(Redundancy, NotWithAnExceptionNorFromFewInputs) {
  KillCounts other = kills_first(150);
  other.inputs[0] = 0;  // the first mutant alone is killed by it
  EXPECT_EQ(redundant(std::vector<KillCounts>{kills_first(50), other}),
            (std::vector<bool>{false, false}));
  // 20 inputs tell them apart: the share is known to +-0.06 only.
  EXPECT_EQ(redundant(std::vector<KillCounts>{kills_first(50), kills_first(70)}),
            (std::vector<bool>{false, false}));
  // Twins are never told apart.
  EXPECT_EQ(redundant(std::vector<KillCounts>{kills_first(50), kills_first(50)}),
            (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace neutra::evaluators
