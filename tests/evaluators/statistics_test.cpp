#include "evaluators/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluators/samples.h"

namespace neutra::evaluators::tests {
namespace {

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

TEST(CohensD, LargeErrorsAreNumbersLikeOthers) {
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

TEST(PText, EndsWhereTailsAreNoEvidence) {
  EXPECT_EQ(p_text(1), "1");
  EXPECT_EQ(p_text(0.012345678), "0.01235");
  EXPECT_EQ(p_text(1e-16), "1e-16");
  EXPECT_EQ(p_text(9.9e-17), "< 1e-16");
  EXPECT_EQ(p_text(0), "< 1e-16");
  EXPECT_EQ(p_text(kNan), "-");
  EXPECT_EQ(diverged_text(count_not_finite(Values{1, kNan, -kInfinity}), 3), "2 of 3 diverged");
}

}  // namespace
}  // namespace neutra::evaluators::tests
