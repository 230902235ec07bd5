#include "evaluators/mutation_score.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

constexpr SearchRange kPercent{0, 100, 5, 0};

SearchStep tried(double value, bool killed, bool stable = true) {
  SearchStep step;
  step.value = value;
  step.verdict.killed = killed;
  step.verdict.stable = stable;
  return step;
}
BinarySearch killed_at(double killed, double survived, std::vector<SearchStep> steps) {
  BinarySearch search;
  search.steps = std::move(steps);
  search.killed = killed;
  search.survived = survived;
  return search;
}

TEST(RangeScore, DistanceToTheSevereEnd) {
  // (100 - 60) / (100 - 20)
  const BinarySearch train = killed_at(20, 16, {tried(100, true), tried(20, true)});
  const BinarySearch test = killed_at(60, 56, {tried(100, true), tried(60, true)});
  for (const KillVariant variant : {KillVariant::kCorrected, KillVariant::kAsPublished}) {
    const OperatorScore score = range_score(kPercent, variant, train, test);
    EXPECT_DOUBLE_EQ(score.score.value(), 0.5);
    EXPECT_EQ(score.instability, 0);
  }
}

TEST(RangeScore, RoundedAsPublished) {
  const BinarySearch train = killed_at(25, 20, {tried(100, true)});
  const BinarySearch test = killed_at(50, 45, {tried(100, true), tried(50, true)});
  EXPECT_DOUBLE_EQ(range_score(kPercent, KillVariant::kCorrected, train, test).score.value(),
                   50.0 / 75);
  EXPECT_DOUBLE_EQ(range_score(kPercent, KillVariant::kAsPublished, train, test).score.value(),
                   0.67);
}

TEST(RangeScore, AtTheEnds) {
  const auto corrected = KillVariant::kCorrected, published = KillVariant::kAsPublished;
  const BinarySearch none{{tried(100, false)}, {}, {}};
  const BinarySearch severe = killed_at(100, 97, {tried(100, true)});
  const BinarySearch mild = killed_at(20, 16, {tried(100, true), tried(20, true)});
  // The training set kills nothing: left out.
  EXPECT_EQ(range_score(kPercent, corrected, none, mild).score, std::nullopt);
  // The test set kills nothing.
  EXPECT_EQ(range_score(kPercent, corrected, mild, none).score, 0);
  EXPECT_EQ(range_score(kPercent, published, mild, none).score, 0);
  EXPECT_EQ(range_score(kPercent, corrected, severe, none).score, 0);
  EXPECT_EQ(range_score(kPercent, published, severe, none).score, 1);  // taken for killed
  // The training set kills the severe end alone.
  EXPECT_EQ(range_score(kPercent, corrected, severe, mild).score, 1);
  EXPECT_EQ(range_score(kPercent, published, severe, mild).score, std::nullopt);
  EXPECT_EQ(range_score(kPercent, corrected, severe, severe).score, 1);
  // Better than the training set is no more than as good.
  EXPECT_EQ(range_score(kPercent, corrected, killed_at(40, 36, {}), mild).score, 1);
}

TEST(RangeScore, FallingRange) {
  const SearchRange rate{1, 0, 0.01, 2};
  const BinarySearch train = killed_at(0.8, 0.81, {tried(0, true)});
  const BinarySearch test = killed_at(0.4, 0.41, {tried(0, true), tried(0.4, true)});
  EXPECT_DOUBLE_EQ(range_score(rate, KillVariant::kCorrected, train, test).score.value(), 0.5);
  EXPECT_DOUBLE_EQ(range_score(rate, KillVariant::kAsPublished, train, test).score.value(), 0.5);
}

TEST(RangeScore, Instability) {
  const BinarySearch train = killed_at(20, 16, {});
  // 40 has too little power, the first with enough at or beyond the killed one is 60:
  // (40 - 20) / 80 + (60 - 20) / 80.
  const BinarySearch test = killed_at(
      40, 36, {tried(100, true), tried(60, true), tried(40, true, false), tried(20, false)});
  EXPECT_DOUBLE_EQ(range_score(kPercent, KillVariant::kCorrected, train, test).instability, 0.75);
  EXPECT_DOUBLE_EQ(range_score(kPercent, KillVariant::kAsPublished, train, test).instability, 0.75);
  // The mirror image: the same for a range that falls.
  const SearchRange falling{100, 0, 5, 0};
  const BinarySearch mirrored_train = killed_at(80, 84, {});
  const BinarySearch mirrored = killed_at(
      60, 64, {tried(0, true), tried(40, true), tried(60, true, false), tried(80, false)});
  EXPECT_DOUBLE_EQ(
      range_score(falling, KillVariant::kCorrected, mirrored_train, mirrored).instability, 0.75);
  // No verdict with power at all.
  const BinarySearch uncertain = killed_at(40, 36, {tried(100, true, false)});
  EXPECT_EQ(range_score(kPercent, KillVariant::kCorrected, train, uncertain).instability, 2);
}

ConfigurationVerdict configuration(const char* name, bool train, bool train_stable, bool test,
                                   bool test_stable = true) {
  ConfigurationVerdict v{name, {}, {}};
  v.train.killed = train;
  v.train.stable = train_stable;
  v.test.killed = test;
  v.test.stable = test_stable;
  return v;
}

TEST(ListScore, ShareOfWhatTrainingKills) {
  const std::vector<ConfigurationVerdict> verdicts{
      configuration("a", true, true, true), configuration("b", true, true, false),
      configuration("c", false, true, true), configuration("d", true, false, true)};
  const OperatorScore score = list_score(verdicts, KillVariant::kCorrected);
  EXPECT_DOUBLE_EQ(score.score.value(), 0.5);
  EXPECT_EQ(score.instability, 0);
}

TEST(ListScore, PublishedMissesTheNextAfterOneThatItDrops) {
  const std::vector<ConfigurationVerdict> verdicts{configuration("a", true, false, true),
                                                   configuration("b", true, false, true),
                                                   configuration("c", true, true, false)};
  EXPECT_EQ(list_score(verdicts, KillVariant::kCorrected).score, 0);
  EXPECT_EQ(list_score(verdicts, KillVariant::kAsPublished).score, 0.5);
}

TEST(ListScore, NothingToCompare) {
  EXPECT_EQ(list_score({}, KillVariant::kCorrected).score, std::nullopt);
  const std::vector<ConfigurationVerdict> uncertain{configuration("a", true, false, true)};
  EXPECT_EQ(list_score(uncertain, KillVariant::kCorrected).score, std::nullopt);
  EXPECT_EQ(list_score(uncertain, KillVariant::kAsPublished).score, 0);
}

TEST(ListScore, Instability) {
  const std::vector<ConfigurationVerdict> verdicts{configuration("a", true, true, true),
                                                   configuration("b", true, true, true, false)};
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
}  // namespace neutra
