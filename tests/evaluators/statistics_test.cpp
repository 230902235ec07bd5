#include "evaluators/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace neutra::evaluators {
namespace {

using Values = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Student's sleep data (1908): hours gained with two drugs. R's exact permutation test gives
// 0.08145.
const Values kDrug1{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const Values kDrug2{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
// Efron and Tibshirani's mouse data (1993): survival in days, treated and control.
const Values kTreated{94, 197, 16, 38, 99, 141, 23};
const Values kControl{52, 104, 146, 10, 51, 30, 40, 27, 46};
// Accuracies of two programs of the study.
const Values kParent{0.62, 0.62, 0.61, 0.63, 0.6, 0.6, 0.62, 0.61, 0.66, 0.61};
const Values kChild{0.66, 0.65, 0.66, 0.67, 0.65, 0.68, 0.67, 0.68, 0.65, 0.66};

TEST(Mean, EqualValuesHaveNoSpread) {
  const Values tenths(10, 0.1);
  EXPECT_EQ(mean(tenths), 0.1);
  EXPECT_EQ(sample_variance(tenths), 0.0);
}

TEST(Mean, SmallLists) {
  EXPECT_EQ(mean(Values{1, 2, 6}), 3.0);
  EXPECT_EQ(sample_variance(Values{1, 2, 6}), 7.0);
  EXPECT_EQ(sample_variance(Values{4}), 0.0);
  EXPECT_TRUE(std::isnan(mean(Values{})));
  EXPECT_TRUE(std::isnan(mean(Values{1, kNan})));
}

TEST(CohensD, ByHand) {
  // means 2 and 4, variances 1 and 1: pooled 1
  EXPECT_DOUBLE_EQ(cohens_d(Values{1, 2, 3}, Values{3, 4, 5}), -2.0);
  // variances 1 (3 values) and 8 (2 values): pooled (2 * 1 + 1 * 8) / 3
  EXPECT_DOUBLE_EQ(cohens_d(Values{1, 2, 3}, Values{2, 6}), -2.0 / std::sqrt(10.0 / 3.0));
}

TEST(CohensD, AgainstNumpy) {
  EXPECT_NEAR(cohens_d(kDrug1, kDrug2), -0.8321810813495395, 1e-12);
  EXPECT_NEAR(cohens_d(kTreated, kControl), 0.5648529874713553, 1e-12);
  EXPECT_NEAR(cohens_d(kParent, kChild), -3.0300759398918187, 1e-12);
}

TEST(CohensD, ZeroSpread) {
  EXPECT_EQ(cohens_d(Values(10, 0.1), Values(10, 0.1)), 0.0);
  EXPECT_EQ(cohens_d(Values(10, 0.1), Values(3, 0.1)), 0.0);
  EXPECT_EQ(cohens_d(Values(10, 0.2), Values(10, 0.1)), kInfinity);
  EXPECT_EQ(cohens_d(Values(10, 0.1), Values(10, 0.2)), -kInfinity);
}

TEST(GlmP, AgainstStatsmodels) {
  EXPECT_NEAR(glm_p(kDrug1, kDrug2), 0.06277052297856905, 1e-12);
  EXPECT_NEAR(glm_p(kTreated, kControl), 0.2623536756899155, 1e-12);
  EXPECT_NEAR(glm_p(kParent, kChild) / 1.2401467177621668e-11, 1.0, 1e-6);
}

TEST(GlmP, ByHand) {
  // difference 2, pooled variance 1, error sqrt(2/3): z = sqrt(6), p = 2 (1 - Phi(2.449))
  EXPECT_NEAR(glm_p(Values{1, 2, 3}, Values{3, 4, 5}), 0.014305878435429631, 1e-14);
}

TEST(GlmP, ZeroSpread) {
  EXPECT_EQ(glm_p(Values(10, 0.1), Values(10, 0.1)), 1.0);
  EXPECT_EQ(glm_p(Values(10, 0.1), Values(10, 0.2)), 0.0);
}

TEST(GlmP, NothingCanBeToldOfNan) {
  EXPECT_EQ(glm_p(Values{1, 2, kNan}, Values{1, 2, 3}), 1.0);
  EXPECT_EQ(glm_p(Values{1, 2, 3}, Values{1, kInfinity, 3}), 1.0);
  EXPECT_EQ(glm_p(Values{}, Values{1, 2, 3}), 1.0);
  EXPECT_EQ(cohens_d(Values{1, 2, kNan}, Values{1, 2, 3}), 0.0);
}

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

TEST(Compare, LargeErrorsAreNumbersLikeOthers) {
  Values large, larger;
  for (int i = 0; i < 10; ++i) {
    large.push_back((1 + 0.1 * i) * 1e307);
    larger.push_back((3 + 0.1 * i) * 1e307);
  }
  Values small = large, smaller = larger;
  for (double& value : small) value /= 1e307;
  for (double& value : smaller) value /= 1e307;
  EXPECT_NEAR(cohens_d(large, larger), cohens_d(small, smaller), 1e-9);
  EXPECT_NEAR(glm_p(large, larger) / glm_p(small, smaller), 1, 1e-6);
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

TEST(PText, EndsWhereTailsAreNoEvidence) {
  EXPECT_EQ(p_text(1), "1");
  EXPECT_EQ(p_text(0.012345678), "0.01235");
  EXPECT_EQ(p_text(1e-16), "1e-16");
  EXPECT_EQ(p_text(9.9e-17), "< 1e-16");
  EXPECT_EQ(p_text(0), "< 1e-16");
  EXPECT_EQ(p_text(kNan), "-");
  EXPECT_EQ(diverged_text(count_not_finite(Values{1, kNan, -kInfinity}), 3), "2 of 3 diverged");
}

TEST(PermutationP, ExactCounts) {
  EXPECT_DOUBLE_EQ(permutation_p(kDrug1, kDrug2), 15048.0 / 184756.0);
  EXPECT_DOUBLE_EQ(permutation_p(kTreated, kControl), 3184.0 / 11440.0);
  EXPECT_DOUBLE_EQ(permutation_p(kParent, kChild), 14.0 / 184756.0);
  EXPECT_DOUBLE_EQ(permutation_p(Values{1, 2}, Values{3, 4}), 2.0 / 6.0);
  EXPECT_DOUBLE_EQ(permutation_p(Values{3}, Values{1, 2, 1}), 1.0 / 4.0);
}

TEST(PermutationP, TiesSurviveRounding) {
  // all differences are zero but for the order of summation
  EXPECT_EQ(permutation_p(Values(10, 0.1), Values(10, 0.1)), 1.0);
  // 0.1 + 0.2 against 0.3 + 0.0: not equal in binary
  EXPECT_EQ(permutation_p(Values{0.1, 0.2}, Values{0.3, 0.0}), 1.0);
}

TEST(PermutationP, ScalesWithItsValues) {
  Values a, b;
  for (std::size_t i = 0; i < kDrug1.size(); ++i) {
    a.push_back(kDrug1[i] * 1e9);
    b.push_back(kDrug2[i] * 1e9);
  }
  EXPECT_DOUBLE_EQ(permutation_p(a, b), 15048.0 / 184756.0);
}

TEST(PermutationP, NanIsTheLargestValue) {
  EXPECT_EQ(permutation_p(Values{kNan, kNan}, Values{kNan, kNan}), 1.0);
  EXPECT_EQ(permutation_p(Values{kNan, 1}, Values{kInfinity, 1}), 1.0);
  // three NaNs on one side: 2 of the 20 splits are as extreme
  EXPECT_DOUBLE_EQ(permutation_p(Values{kNan, kNan, kNan}, Values{1, 2, 3}), 2.0 / 20.0);
  EXPECT_DOUBLE_EQ(permutation_p(Values{1, 2, 3}, Values{kNan, kNan, kNan}), 2.0 / 20.0);
  // equal shares of NaN: the finite values decide
  EXPECT_DOUBLE_EQ(permutation_p(Values{kNan, 1}, Values{kNan, 3}), 1.0);
  EXPECT_DOUBLE_EQ(permutation_p(Values{kNan, 9, 9}, Values{9, 9, 9}), 1.0);
}

TEST(PermutationP, MonteCarloIsCloseAndRepeatable) {
  const double exact = permutation_p(kDrug1, kDrug2);
  const double sampled = permutation_p(kDrug1, kDrug2, 100000);
  EXPECT_NE(sampled, exact);
  EXPECT_NEAR(sampled, exact, 0.004);  // more than four standard errors
  EXPECT_EQ(sampled, permutation_p(kDrug1, kDrug2, 100000));
  Values zeros(30, 0.0), ones(30, 1.0);
  EXPECT_DOUBLE_EQ(permutation_p(zeros, ones, 1000), 1.0 / 1001.0);
}

TEST(PermutationP, EmptySample) { EXPECT_EQ(permutation_p(Values{}, Values{1}), 1.0); }

TEST(Compare, OneValueASideTellsNothing) {
  const std::vector<double> better = {0.9}, worse = {0.1};
  EXPECT_FALSE(compare(better, worse, true).significant);
  const std::vector<double> two_better = {0.9, 0.91}, two_worse = {0.1, 0.11};
  EXPECT_TRUE(compare(two_better, two_worse, true).significant);
}

}  // namespace
}  // namespace neutra::evaluators
