#include "evaluators/aggregates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace neutra::evaluators {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Aggregates of(std::vector<float> values, double close_to_zero = kCloseToZero) {
  return aggregates(values, close_to_zero);
}

// NumPy 2 and SciPy 1.17 (skew, kurtosis with fisher=False).
TEST(Aggregates, AgreeWithSciPy) {
  const Aggregates a = of({0.5F, -1.25F, 3, 0, 1e-9F, 2, 2, -7.5F, 0.125F, 4});
  EXPECT_EQ(a[Aggregate::kMax], 4);
  EXPECT_EQ(a[Aggregate::kMin], -7.5);
  EXPECT_EQ(a[Aggregate::kMedian], 0.3125);
  EXPECT_NEAR(a[Aggregate::kMean], 0.2875000001, 1e-15);
  EXPECT_NEAR(a[Aggregate::kVar], 9.025156249942498, 1e-13);
  EXPECT_NEAR(a[Aggregate::kStd], 3.0041897826106956, 1e-13);
  EXPECT_NEAR(a[Aggregate::kSkew], -1.4560420183485365, 1e-13);
  EXPECT_NEAR(a[Aggregate::kKurt], 4.842934608702795, 1e-13);
  EXPECT_EQ(a[Aggregate::kSpar], 0.2);
  EXPECT_NEAR(a[Aggregate::kMeanAbs], 2.0375000001, 1e-15);
  EXPECT_FLOAT_EQ(static_cast<float>(a[Aggregate::kMinAbs]), 1e-9F);
  EXPECT_EQ(a[Aggregate::kNonfinite], 0);
}

TEST(Aggregates, LargeMeansCostNoDigits) {
  std::vector<float> values;
  for (const float x : {1.F, 2.F, 4.F, 8.F, 16.F, 32.F, 64.F}) values.push_back(1000 + x / 1024);
  const Aggregates far = of(values);
  const Aggregates near = of({1, 2, 4, 8, 16, 32, 64});
  EXPECT_NEAR(far[Aggregate::kVar], near[Aggregate::kVar] / 1024 / 1024, 1e-15);
  EXPECT_NEAR(far[Aggregate::kSkew], near[Aggregate::kSkew], 1e-9);
  EXPECT_NEAR(far[Aggregate::kKurt], near[Aggregate::kKurt], 1e-9);
}

TEST(Aggregates, ValuesThatArentFiniteAreCountedAndLeftOut) {
  const Aggregates a = of({1, kNan, 3, kInfinity, -kInfinity, 8, 8, 8});
  const Aggregates b = of({1, 3, 8, 8, 8});
  EXPECT_EQ(a[Aggregate::kNonfinite], 3.0 / 8);
  for (const Aggregate same : {Aggregate::kMax, Aggregate::kMedian, Aggregate::kMean,
                               Aggregate::kVar, Aggregate::kSkew, Aggregate::kSpar}) {
    EXPECT_EQ(a[same], b[same]) << to_string(same);
  }
  const Aggregates none = of({kNan, kInfinity});
  EXPECT_EQ(none[Aggregate::kNonfinite], 1);
  EXPECT_TRUE(std::isnan(none[Aggregate::kMean]));
  EXPECT_TRUE(std::isnan(of({})[Aggregate::kNonfinite]));
}

TEST(Aggregates, EqualValuesHaveNoShape) {
  const Aggregates a = of({0.1F, 0.1F, 0.1F});
  EXPECT_EQ(a[Aggregate::kVar], 0);
  EXPECT_TRUE(std::isnan(a[Aggregate::kSkew]));
  EXPECT_TRUE(std::isnan(a[Aggregate::kKurt]));
  EXPECT_EQ(a[Aggregate::kMedian], static_cast<double>(0.1F));
  EXPECT_TRUE(std::isnan(of({0, 0})[Aggregate::kMinAbs]));
}

TEST(Aggregates, WhatIsCloseToZeroCanBeSaid) {
  EXPECT_EQ(of({0, 0.5F, 1, 2}, 0.5)[Aggregate::kSpar], 0.5);
  EXPECT_EQ(of({0, 0.5F, 1, 2}, 0)[Aggregate::kSpar], 0.25);
}

TEST(Aggregates, NamesReadBack) {
  for (std::size_t i = 0; i < kAggregates; ++i) {
    const auto aggregate = static_cast<Aggregate>(i);
    EXPECT_EQ(parse_aggregate(to_string(aggregate)), aggregate);
  }
  EXPECT_FALSE(parse_aggregate("mode"));
}

TEST(Aggregates, MediansPassOverNan) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(median({3, nan, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({infinity, infinity, 1}), infinity);
  EXPECT_TRUE(std::isnan(median({nan})));
}

}  // namespace
}  // namespace neutra::evaluators
