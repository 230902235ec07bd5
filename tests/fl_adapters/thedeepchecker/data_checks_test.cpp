#include "fl_adapters/tools/thedeepchecker/data_checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/thedeepchecker/checks.h"

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

TEST(TheDeepChecker, ConstantFeatures) {
  EXPECT_EQ(said(check_features({kConstant}, kPublished)), Lines{"Features are constant -> CPP"});
  EXPECT_EQ(said(check_features({kNormal}, kPublished)), Lines{});
  EXPECT_EQ(said(check_features({{2, above(0.0), 2, 2}}, kPublished)),
            Lines{"Features seem to be unnormalized -> CPP"});
  EXPECT_EQ(said(check_features({kWide, kConstant}, kPublished)),
            (Lines{"Feature indexed 1 is constant -> CPP",
                   "Feature indexed 0 seems to be unnormalized -> CPP"}));
}

TEST(TheDeepChecker, UnnormalizedFeatures) {
  const auto one = [](Column column) { return said(check_features({column}, kPublished)); };
  const Lines fired{"Features seem to be unnormalized -> CPP"};
  EXPECT_EQ(one(kWide), fired);
  EXPECT_EQ(one(kNormal), Lines{});
  EXPECT_EQ(one(kCentred), Lines{});
  EXPECT_EQ(one(kStandard), Lines{});
  // Within 0.01; next to 1, 1.01 is a little further away.
  EXPECT_EQ(one({0.5, 0.2, 0, below(1.01)}), Lines{});
  EXPECT_EQ(one({0.5, 0.2, 0, 1.01}), fired);
  EXPECT_EQ(one({0.5, 0.2, 0.01, 1}), Lines{});
  EXPECT_EQ(one({0.5, 0.2, above(0.01), 1}), fired);
  EXPECT_EQ(one({0.01, below(1.01), -3, 3}), Lines{});
  EXPECT_EQ(one({0.01, 1.01, -3, 3}), fired);
  EXPECT_EQ(one({above(0.01), 1, -3, 3}), fired);
}

TEST(TheDeepChecker, ANormalizedFeatureEndsTheCheckUnlessRepaired) {
  EXPECT_EQ(check_features({kNormal, kWide}, kPublished).size(), 0u);
  const Messages found = check_features({kNormal, kWide, kWide, kStandard, kWide}, kRepaired);
  EXPECT_EQ(said(found), Lines{"Feature indexed 1 seems to be unnormalized -> CPP"});
  EXPECT_EQ(found[0].detail, "3 of 5: 1-2, 4");
}

TEST(TheDeepChecker, Columns) {
  const std::vector<float> values{1, 10, 3, 10};
  const auto columns = columns_of(values, 2);
  EXPECT_EQ(columns[0].mean, 2);
  EXPECT_EQ(columns[0].stddev, 1);
  EXPECT_EQ(columns[0].max, 3);
  EXPECT_EQ(columns[1].stddev, 0);
}

TEST(TheDeepChecker, UnbalancedLabels) {
  EXPECT_DOUBLE_EQ(classes({0.25, 0.25, 0.25, 0.25}).balance(), 1);
  EXPECT_DOUBLE_EQ(classes({1, 0}).balance(), 0);
  // Two of three classes are half of what could be.
  EXPECT_DOUBLE_EQ(classes({0.5, 0.5, 0}).balance(), 0.5);
  EXPECT_EQ(said(check_targets(classes({0.5, 0.5, 0}), kPublished)), Lines{});
  EXPECT_EQ(said(check_targets(classes({0.5000001, 0.4999999, 0}), kPublished)),
            Lines{"Groundtruth Labels are unbalanced, which requires adaptive algorithms -> TUD"});
}

TEST(TheDeepChecker, TargetsOfARegression) {
  EXPECT_EQ(said(check_targets(regression({kWide}), kPublished)),
            Lines{"Outputs seem to be unnormalized -> CPP"});
  EXPECT_EQ(said(check_targets(regression({kNormal}), kPublished)), Lines{});
  EXPECT_EQ(said(check_targets(regression({kStandard, kWide}), kPublished)),
            Lines{"Output indexed 1 seem to be unnormalized -> CPP"});
  // The published tool has the wrong words for constant targets.
  EXPECT_EQ(said(check_targets(regression({kConstant}), kPublished)),
            Lines{"Outputs seem to be unnormalized -> CPP"});
  const Column nearly{2, 0.01, 1.9, 2.1}, hardly{2, above(0.01), 1.9, 2.1};
  for (const Column& constant : {kConstant, nearly}) {
    EXPECT_EQ(said(check_targets(regression({constant}), kRepaired)),
              Lines{"Outputs are constant -> CPP"});
    EXPECT_EQ(said(check_targets(regression({kStandard, constant}), kRepaired)),
              Lines{"Output indexed 1 is constant -> CPP"});
  }
  EXPECT_EQ(said(check_targets(regression({hardly}), kRepaired)),
            Lines{"Outputs seem to be unnormalized -> CPP"});
}

TEST(TheDeepChecker, LabelsThatNameNoClass) {
  EXPECT_EQ(label_class(7), 7u);
  for (const float none : {-1.0f, std::nanf(""), 1e30f}) EXPECT_EQ(label_class(none), 0u);
}

TEST(TheDeepChecker, KindsOfTargets) {
  const std::vector<float> binary{0, 1, 1, 1}, sparse{0, 2, 2, 2}, one_hot{1, 0, 0, 1, 0, 1};
  EXPECT_EQ(targets_of(binary, 1, true, false).shares, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(targets_of(binary, 1, true, false).outputs, 1u);
  EXPECT_EQ(targets_of(sparse, 1, true, true).shares, (std::vector<double>{0.25, 0, 0.75}));
  EXPECT_EQ(targets_of(sparse, 1, true, true).outputs, 3u);
  const Targets hot = targets_of(one_hot, 2, true, false);
  EXPECT_NEAR(hot.shares[1], 2.0 / 3, 1e-12);
  EXPECT_EQ(hot.outputs, 2u);
  EXPECT_EQ(targets_of(binary, 1, false, false).columns[0].mean, 0.75);
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
