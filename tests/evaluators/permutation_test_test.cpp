#include "evaluators/permutation_test.h"

#include <gtest/gtest.h>

#include "tests/evaluators/samples.h"

namespace neutra::evaluators::tests {
namespace {

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

}  // namespace
}  // namespace neutra::evaluators::tests
