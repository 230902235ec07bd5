#include "evaluators/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace neutra {
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
}  // namespace neutra
