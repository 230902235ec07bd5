#include "evaluators/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluators/samples.h"

namespace neutra::evaluators::tests {
namespace {

TEST(Bootstrap, NearSciPysInterval) {
  // SciPy 1.17.1, stats.bootstrap of the mean, BCa, 200,000 draws.
  const Values recalls{0.67, 0.67, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0.5, 1, 1, 0, 1, 0, 0, 1, 0.5, 1, 0};
  const Interval even = bootstrap_mean(recalls);
  constexpr double kStep = 0.17 / 22;  // means of these values lie this far apart
  EXPECT_NEAR(even.low, 0.4091, kStep);
  EXPECT_NEAR(even.high, 0.7805, kStep);
  const Values skewed{4.4125, 0.3182, 0.1848, 2.2634, 0.3624, 0.9877, 2.3157, 0.1932,
                      0.1212, 1.296,  1.0454, 0.7821, 1.0393, 0.4229, 0.2201, 0.8465,
                      0.3784, 0.1933, 1.6581, 0.9404, 1.5016, 0.3718, 0.5179, 0.3682,
                      0.412,  1.2158, 0.457,  1.4277, 1.4046, 7.5773};
  const Interval wide = bootstrap_mean(skewed);
  EXPECT_NEAR(wide.low, 0.8046, 0.02);
  EXPECT_NEAR(wide.high, 2.0054, 0.06);
  const Interval again = bootstrap_mean(skewed);
  EXPECT_EQ(again.low, wide.low);
  EXPECT_EQ(again.high, wide.high);
}

TEST(Bootstrap, HigherLevelsAreWider) {
  const Values values{1, 2, 3, 4, 8};
  const Interval narrow = bootstrap_mean(values, 0.5), wide = bootstrap_mean(values, 0.99);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_LT(narrow.low, 3.6);
  EXPECT_LT(3.6, narrow.high);
  EXPECT_LT(narrow.high, wide.high);
}

TEST(Bootstrap, WithoutSpreadThereIsNothingToDraw) {
  const Interval one = bootstrap_mean(Values(5, 0.3));
  EXPECT_EQ(one.low, 0.3);
  EXPECT_EQ(one.high, 0.3);
  EXPECT_TRUE(std::isnan(bootstrap_mean({}).low));
}

}  // namespace
}  // namespace neutra::evaluators::tests
