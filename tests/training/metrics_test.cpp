#include "training/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "program/error.h"

namespace neutra {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Metric measured(const char* name, const std::vector<float>& o, const Shape& os,
                const std::vector<float>& t, const Shape& ts) {
  Metric metric(name);
  metric.add({o, os}, {t, ts});
  return metric;
}

TEST(Metrics, Argmax) {
  EXPECT_EQ(argmax(std::vector<float>{1, 3, 3, 2}), 1u);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, 3, 4}), 2u);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, kNaN}), 0u);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, -std::numeric_limits<float>::infinity()}), 0u);
}

TEST(Metrics, BinaryWhereTheOutputHasOneUnit) {
  const Metric m = measured("accuracy", {0.6f, 0.5f, 0.4f, kNaN}, {4, 1}, {1, 1, 0, 0}, {4, 1});
  EXPECT_EQ(m.correct(), 3);  // 0.5 isn't above the threshold; NaN counts as 0
  EXPECT_EQ(m.total(), 4);
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
}

TEST(Metrics, BinaryBroadcastsTheOutput) {
  const Metric m = measured("accuracy", {0.6f, 0.4f}, {2, 1}, {1, 0, 1, 0, 0, 1}, {2, 3});
  EXPECT_EQ(m.correct(), 4);
  EXPECT_EQ(m.total(), 6);
}

TEST(Metrics, SparseWhereTheTargetHasOneColumnOrLessRank) {
  const std::vector<float> o{0.1f, 0.9f, 0.8f, 0.2f, 0.3f, 0.7f};
  EXPECT_EQ(measured("accuracy", o, {3, 2}, {1, 1, 0.5f}, {3, 1}).correct(), 1);
  EXPECT_EQ(measured("accuracy", o, {3, 2}, {1, 0, 1}, {3}).correct(), 3);
}

TEST(Metrics, CategoricalTakesTheFirstMaximumOfBoth) {
  // A target of zeros counts as class 0, as does an output of NaN.
  const Metric m = measured("accuracy", {0.1f, 0.9f, kNaN, kNaN, 0.5f, 0.5f}, {3, 2},
                            {0, 1, 0, 0, 1, 1}, {3, 2});
  EXPECT_EQ(m.correct(), 3);
}

TEST(Metrics, ErrorsBroadcastAndAddUp) {
  Metric mae("mae");
  mae.add({std::vector<float>{1, 2}, {2, 1}}, {std::vector<float>{0, 0, 0, 4}, {2, 2}});
  mae.add({std::vector<float>{5}, {1, 1}}, {std::vector<float>{3, 5}, {1, 2}});
  EXPECT_DOUBLE_EQ(mae.value(), (1 + 1 + 2 + 2 + 2 + 0) / 6.0);
  EXPECT_EQ(mae.correct(), -1);
  EXPECT_DOUBLE_EQ(measured("mse", {1, 2}, {2, 1}, {3, 3}, {2}).value(), 2.5);
  EXPECT_TRUE(std::isnan(measured("mae", {kNaN, 2}, {2, 1}, {3, 3}, {2, 1}).value()));
  EXPECT_TRUE(std::isnan(Metric("mae").value()));
}

TEST(Metrics, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Metric("auc"), Error);
  EXPECT_THROW(measured("mae", {1, 2}, {1, 2}, {1, 2, 3}, {1, 3}), Error);
}

}  // namespace
}  // namespace neutra
