#include "evaluators/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluators/samples.h"

namespace neutra::evaluators::tests {
namespace {

TEST(Compare, DirectionCounts) {
  EXPECT_TRUE(compare(kChild, kParent, true).significant);
  EXPECT_FALSE(compare(kParent, kChild, true).significant);
  EXPECT_FALSE(compare(kChild, kParent, false).significant);
  EXPECT_TRUE(compare(kParent, kChild, false).significant);
  EXPECT_NEAR(compare(kChild, kParent, true).d, 3.0300759398918187, 1e-12);
}

TEST(Compare, BothThresholdsCount) {
  // d is large enough, p is not
  const Comparison drugs = compare(kDrug2, kDrug1, true);
  EXPECT_GT(drugs.d, 0.5);
  EXPECT_FALSE(drugs.significant);
  // p is small, d is not: many values a little apart
  Values low, high;
  for (int i = 0; i < 400; ++i) {
    low.push_back(i % 2);
    high.push_back(i % 2 + 0.2);
  }
  const Comparison many = compare(high, low, true);
  EXPECT_LT(many.p, 0.05);
  EXPECT_LT(many.d, 0.5);
  EXPECT_FALSE(many.significant);
  EXPECT_TRUE(compare(Values(10, 1.0), Values(10, 0.9), true).significant);
  EXPECT_FALSE(compare(Values(10, 1.0), Values(10, 1.0), true).significant);
}

/// `finite` values around 1, then NaNs.
Values runs(std::size_t finite, std::size_t diverged) {
  Values values;
  for (std::size_t i = 0; i < finite; ++i) values.push_back(1 + 0.01 * static_cast<double>(i % 3));
  values.insert(values.end(), diverged, kNan);
  return values;
}

TEST(Compare, AllDivergedAgainstNoneIsCertain) {
  for (const bool maximize : {true, false}) {
    const double sign = maximize ? 1 : -1;
    for (const double diverged : {kNan, kInfinity, -kInfinity}) {
      const Values none(10, diverged);
      const Comparison better = compare(runs(10, 0), none, maximize);
      EXPECT_TRUE(better.significant);
      EXPECT_DOUBLE_EQ(better.p, 2.0 / 184756.0);
      EXPECT_EQ(better.d, sign * kInfinity);
      const Comparison worse = compare(none, runs(10, 0), maximize);
      EXPECT_FALSE(worse.significant);
      EXPECT_DOUBLE_EQ(worse.p, better.p);
      EXPECT_EQ(worse.d, -better.d);
    }
    // Whatever the number of runs, if there are two a side.
    const Comparison two = compare(runs(2, 0), runs(0, 2), maximize);
    EXPECT_TRUE(two.significant);
    EXPECT_DOUBLE_EQ(two.p, 2.0 / 6.0);
    EXPECT_FALSE(compare(runs(1, 0), runs(0, 1), maximize).significant);
    EXPECT_FALSE(compare(runs(2, 0), runs(0, 1), maximize).significant);
  }
}

TEST(Compare, BothDivergedIsNoDifference) {
  for (const bool maximize : {true, false}) {
    const Comparison both =
        compare(Values{kNan, kInfinity, -kInfinity}, Values{kNan, kNan}, maximize);
    EXPECT_EQ(both.p, 1);
    EXPECT_EQ(both.d, 0);
    EXPECT_FALSE(std::signbit(both.d));  // no "-0"
    EXPECT_FALSE(both.significant);
  }
}

TEST(Compare, SomeDivergedIsRanked) {
  for (const bool maximize : {true, false}) {
    const double sign = maximize ? 1 : -1;
    // Three of ten may be chance: of the splits 2 C(17, 7) have all three on one side.
    const Comparison few =
        compare(Values(10, 1.0), Values{1, 1, 1, 1, 1, 1, 1, kNan, kNan, kNan}, maximize);
    EXPECT_NEAR(few.p, 2 * 19448.0 / 184756.0, 1e-12);
    EXPECT_FALSE(few.significant);
    // In 0.3 + 0.7 / 2 of the pairs the first is better.
    EXPECT_NEAR(sign * few.d, effect_of_superiority(0.65), 1e-12);
    EXPECT_TRUE(
        compare(Values(10, 1.0), Values{1, 1, 1, 1, kNan, kNan, kNan, kNan, kNan, kNan}, maximize)
            .significant);
    // Three of ten against all of ten.
    const Comparison most = compare(runs(7, 3), runs(0, 10), maximize);
    EXPECT_TRUE(most.significant);
    EXPECT_NEAR(most.p, 2 * 286.0 / 184756.0, 1e-12);  // 2 C(13, 3)
    EXPECT_FALSE(compare(runs(0, 10), runs(7, 3), maximize).significant);
    // One of two tells nothing.
    EXPECT_FALSE(compare(runs(2, 0), runs(1, 1), maximize).significant);
    EXPECT_FALSE(compare(runs(1, 1), runs(0, 2), maximize).significant);
  }
  // What is finite counts by its ranks: two of ten diverged, and eight are better than all others.
  Values others, mostly_better;
  for (int i = 0; i < 10; ++i) others.push_back(0.1 + 0.01 * i);
  for (int i = 0; i < 10; ++i) mostly_better.push_back(i < 2 ? kNan : 0.5 + 0.01 * i);
  EXPECT_TRUE(compare(mostly_better, others, true).significant);
  EXPECT_FALSE(compare(mostly_better, others, false).significant);
  EXPECT_TRUE(compare(others, mostly_better, false).significant);
}

TEST(Compare, NeverGivesANan) {
  const Values odd{kNan, kInfinity, -kInfinity, 0, 1, -1, 1e308, -1e308, 1e-320, 1e200};
  const std::size_t n = odd.size();
  for (std::size_t code = 0; code < n * n * n * n; ++code) {
    const Values a{odd[code % n], odd[code / n % n]},
        b{odd[code / n / n % n], odd[code / n / n / n]};
    for (const bool maximize : {true, false}) {
      const Comparison c = compare(a, b, maximize), other = compare(b, a, maximize);
      ASSERT_TRUE(c.p >= 0 && c.p <= 1) << code;
      ASSERT_FALSE(std::isnan(c.d)) << code;
      ASSERT_EQ(c.d, -other.d) << code;
      ASSERT_EQ(c.p, other.p) << code;
      ASSERT_FALSE(c.significant && other.significant) << code;
    }
  }
}

TEST(Effect, OfNormalSamples) {
  // P(X > Y) of N(d, 1) and N(0, 1) is the normal distribution function at d / sqrt(2).
  EXPECT_NEAR(effect_of_superiority(0.6381631950841185), 0.5, 1e-12);
  EXPECT_NEAR(effect_of_superiority(1 - 0.6381631950841185), -0.5, 1e-12);
  EXPECT_NEAR(effect_of_superiority(0.9213503964748574), 2, 1e-12);
  EXPECT_EQ(effect_of_superiority(0.5), 0);
  EXPECT_EQ(effect_of_superiority(1), kInfinity);
  EXPECT_EQ(effect_of_superiority(0), -kInfinity);
}

TEST(Compare, OneValueASideTellsNothing) {
  const std::vector<double> better = {0.9}, worse = {0.1};
  EXPECT_FALSE(compare(better, worse, true).significant);
  const std::vector<double> two_better = {0.9, 0.91}, two_worse = {0.1, 0.11};
  EXPECT_TRUE(compare(two_better, two_worse, true).significant);
}

}  // namespace
}  // namespace neutra::evaluators::tests
