// What DeepFD's monitor counts in a training.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "fl_adapters/tools/deepfd/monitor.h"
#include "tests/fl_adapters/next_number.h"

namespace neutra::fl_adapters::deepfd {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = std::numeric_limits<float>::max();
using Floats = std::vector<float>;

/// The row after one look at a layer's gradients, of the first and the last layer.
Row gradients(const Floats& first, const Floats& last) {
  Row row{};
  const std::vector<Variables> layers{{first}, {last}};
  check_gradients(layers, row);
  return row;
}

TEST(DeepFDRules, DiedRelu) {
  Floats mostly(100, 0.0f), fewer(100, 0.0f);
  for (std::size_t i = 0; i < 60; ++i) mostly[i] = 1;
  for (std::size_t i = 0; i < 61; ++i) fewer[i] = 1;
  const Floats dead(100, 0.0f);
  EXPECT_EQ(gradients(dead, mostly)[kDiedRelu], 1);  // 140 of 200 are 0
  EXPECT_EQ(gradients(dead, fewer)[kDiedRelu], 0);
}

TEST(DeepFDRules, VanishGradient) {
  EXPECT_EQ(gradients({1e-4f}, {1})[kVanishGradient], 1);         // a little less than 1e-4
  EXPECT_EQ(gradients({above(1e-4f)}, {1})[kVanishGradient], 0);  // not small in itself
  const float small = 5e-5f, last = small * 1000;
  EXPECT_EQ(gradients({small}, {below(last)})[kVanishGradient], 0);  // not small beside the last
  EXPECT_EQ(gradients({small}, {above(last)})[kVanishGradient], 1);
}

TEST(DeepFDRules, ExplodeGradient) {
  EXPECT_EQ(gradients({above(70.0f)}, {1})[kExplodeGradient], 1);
  EXPECT_EQ(gradients({70}, {1})[kExplodeGradient], 0);
  EXPECT_EQ(gradients({1e-9f}, {0})[kExplodeGradient], 1);  // infinite ratio
  EXPECT_EQ(gradients({0}, {0})[kExplodeGradient], 0);      // none
}

TEST(DeepFDRules, NanGradientHidesTheOthers) {
  const Row row = gradients({kInfinity, 0, 0, 0}, {0, 0});
  EXPECT_EQ(row[kNanGradient], 1);
  EXPECT_EQ(row[kDiedRelu], 0);
  EXPECT_EQ(gradients({kHuge}, {1})[kNanGradient], 0);
  EXPECT_EQ(gradients({kNan}, {1})[kNanGradient], 1);
}

Row weights(const Variables& now, const std::vector<Floats>& last = {},
            ToolVariant variant = ToolVariant::kRepaired) {
  Row row{};
  check_weights(now, last, variant, row);
  return row;
}

TEST(DeepFDRules, LargeWeight) {
  const Floats large{0, -above(5.0f)}, small{5, -5};
  EXPECT_EQ(weights({large, large})[kLargeWeight], 1);  // once a sample
  EXPECT_EQ(weights({small, small})[kLargeWeight], 0);
}

TEST(DeepFDRules, NanWeight) {
  const Floats broken{1, kNan}, large{kHuge};
  EXPECT_EQ(weights({broken, large})[kNanWeight], 1);
  EXPECT_EQ(weights({broken, large})[kLargeWeight], 0);
  EXPECT_EQ(weights({large})[kNanWeight], 0);
}

TEST(DeepFDRules, ConstantMeanAndDeviationOfWeights) {
  const Floats now{1, 3}, swapped{3, 1}, shifted{2, 4}, wider{0, 4};
  const auto counts = [&](const Floats& last) {
    const Row row = weights({now, now}, {last, last});
    return std::pair(row[kConsMeanWeight], row[kConsStdWeight]);
  };
  EXPECT_EQ(counts(swapped), std::pair(2.0, 2.0));  // each variable counts
  EXPECT_EQ(counts(shifted), std::pair(0.0, 2.0));
  EXPECT_EQ(counts(wider), std::pair(2.0, 0.0));
  // As little as changes a mean and a deviation in single precision.
  EXPECT_EQ(counts({1, above(above(3.0f))}), std::pair(0.0, 0.0));
  EXPECT_EQ(weights({now})[kConsMeanWeight], 0);  // nothing before
}

TEST(DeepFDRules, WeightChangeLittleIsLookedAtWhenRepaired) {
  const Floats little{below(1.1f)}, more{1.1f}, still{2};  // 1.1f is a little more
  EXPECT_EQ(weights({little, still}, {{1}, {2}})[kWeightChangeLittle], 1);
  EXPECT_EQ(weights({more, still}, {{1}, {2}})[kWeightChangeLittle], 0);
  EXPECT_EQ(weights({little, still}, {{1}, {2}}, ToolVariant::kAsPublished)[kWeightChangeLittle],
            0);
}

/// Epochs from losses and accuracies, in training and in validation.
std::vector<Record> epochs(const std::vector<std::array<double, 4>>& values) {
  std::vector<Record> list;
  for (const auto& [loss, accuracy, val_loss, val_accuracy] : values) {
    list.push_back({loss, accuracy, val_loss, val_accuracy});
  }
  return list;
}
Row history(const std::vector<Record>& records, std::int64_t programmed = 1) {
  Row row{};
  check_history(records, programmed, row);
  return row;
}

TEST(DeepFDRules, NotConverge) {
  EXPECT_EQ(history(epochs({{1, 0.7, 1, below(0.6)}, {1, 0.9, 1, 0.1}}))[kNotConverge], 1);
  EXPECT_EQ(history(epochs({{1, below(0.6), 1, 0.7}}))[kNotConverge], 1);
  EXPECT_EQ(history(epochs({{1, 0.6, 1, 0.6}, {1, 0.3, 1, 0.3}}))[kNotConverge], 0);
}

TEST(DeepFDRules, StuckAccuracy) {
  const auto rise = [](double training, double validation) {
    return history(epochs({{1, 0, 1, 0}, {1, training, 1, validation}}))[kScAccuracy];
  };
  EXPECT_EQ(rise(below(0.01), below(0.01)), 1);
  EXPECT_EQ(rise(0, 0.01), 0);
  EXPECT_EQ(rise(0.01, 0), 0);
}

TEST(DeepFDRules, UnstableLoss) {
  const auto swings = [](double high) {
    std::vector<std::array<double, 4>> list;
    for (int i = 0; i < 10; ++i) list.push_back({1, i == 2 || i == 5 ? high : 0, 1, 0.7});
    return history(epochs(list))[kUnstableLoss];
  };
  // Two maxima, each against the minimum of the same number, in ten epochs.
  EXPECT_EQ(swings(0.03), 1);
  EXPECT_EQ(swings(below(0.03)), 0);
  // The same two in eleven epochs are less than a fifth.
  std::vector<std::array<double, 4>> list(11, {1, 0.7, 1, 0.7});
  list[2][1] = list[5][1] = 0.8;
  EXPECT_EQ(history(epochs(list))[kUnstableLoss], 0);
}

TEST(DeepFDRules, NanLoss) {
  EXPECT_EQ(history(epochs({{1, 1, 1, 1}, {std::nan(""), 1, 1, 1}}))[kNanLoss], 1);
  EXPECT_EQ(history(epochs({{1, 1, HUGE_VAL, 1}}))[kNanLoss], 1);
  EXPECT_EQ(history(epochs({{1, 1, 1e5, 1}}))[kNanLoss], 1);
  EXPECT_EQ(history(epochs({{1e9, 1, below(1e5), 1}}))[kNanLoss], 0);
  // Nothing else is looked at then.
  EXPECT_EQ(history(epochs({{1, 0.1, std::nan(""), 0.1}}))[kNotConverge], 0);
}

TEST(DeepFDRules, NanAcc) {
  EXPECT_EQ(history(epochs({{1, std::nan(""), 1, 1}}))[kNanAcc], 1);
  EXPECT_EQ(history(epochs({{1, 1, 1, std::nan("")}}))[kNanAcc], 1);
  EXPECT_EQ(history(epochs({{1, 0, 1, 0}}))[kNanAcc], 0);
}

TEST(DeepFDRules, TestNotWell) {
  const auto gap = [](double train, double test) {
    return history(epochs({{1, train, 1, test}}))[kTestNotWell];
  };
  EXPECT_EQ(gap(0.1, 0), 1);
  EXPECT_EQ(gap(below(0.1), 0), 0);
  EXPECT_EQ(gap(1, below(0.93)), 1);
  EXPECT_EQ(gap(1, 0.93), 0);
  // Up to 0.9 the larger gap is asked for.
  EXPECT_EQ(gap(0.9, 0.82), 0);
  EXPECT_EQ(gap(above(0.9), 0.82), 1);
}

TEST(DeepFDRules, TestTurnBad) {
  const auto turn = [](double loss, double val_loss) {
    return history(epochs({{loss, 1, 0, 1}, {0, 1, val_loss, 1}}))[kTestTurnBad];
  };
  EXPECT_EQ(turn(above(0.01), above(0.01)), 1);
  EXPECT_EQ(turn(above(0.01), 0.01), 0);
  EXPECT_EQ(turn(0.01, above(0.01)), 0);
  // The last step counts.
  EXPECT_EQ(history(epochs({{1, 1, 1, 1}, {0.9, 1, 1.1, 1}, {0.8, 1, 1.0, 1}}))[kTestTurnBad], 0);
}

TEST(DeepFDRules, DecreaseOfAccuracyAndIncreaseOfLoss) {
  const auto counts = [](double loss, double accuracy) {
    const Row row = history(epochs({{1, 0.5, 1, 1}, {loss, accuracy, 1, 1}}));
    return std::pair(row[kIncreaseLoss], row[kDecreaseAcc]);
  };
  EXPECT_EQ(counts(above(1.0), below(0.5)), std::pair(1.0, 1.0));
  EXPECT_EQ(counts(1, 0.5), std::pair(0.0, 0.0));
}

TEST(DeepFDRules, JudgesOnceThreeTenthsOfTheEpochsAreThere) {
  const auto bad = epochs({{1, 0.1, 1, 0.1}, {2, 0.1, 1, 0.1}, {3, 0.1, 1, 0.1}});
  EXPECT_EQ(history(bad, 10)[kIncreaseLoss], 1);
  EXPECT_EQ(history(bad, 11)[kIncreaseLoss], 0);
  EXPECT_EQ(history(bad, 11)[kLoss], 3);  // values are written down at once
}

TEST(DeepFDRules, BatchesHaveNoValidationToJudge) {
  // What the published tool sees: the first entry is a batch's.
  std::vector<Record> mixed{{1, 0.1, {}, {}}, {1, 0.1, 1e9, 0.0}, {0.5, 0.1, {}, {}}};
  const Row row = history(mixed);
  for (const Series never :
       {kNotConverge, kScAccuracy, kNanLoss, kTestNotWell, kTestTurnBad, kValLoss, kValAcc}) {
    EXPECT_EQ(row[never], 0) << series_name(never);
  }
}

TEST(DeepFDMonitor, CountsGrowFromSampleToSample) {
  const Floats kernel{9, 9}, gradient{80, 0}, last{1, 0};
  const auto layer = [&](const Floats& g) {
    training::LayerView view;
    view.weights = {kernel};
    view.gradients = {g};
    return view;
  };
  const std::vector<training::LayerView> layers{layer(gradient), layer(last)};
  for (const ToolVariant variant : kVariants) {
    Monitor monitor(3, variant);
    monitor.batch_end(1, 0.5);
    monitor.sample(layers);
    monitor.epoch_end({0.9, 0.4, 2.0, 0.3});
    monitor.batch_end(1.5, 0.3);
    monitor.sample(layers);
    ASSERT_EQ(monitor.rows().size(), 2u);
    const bool repaired = variant == ToolVariant::kRepaired;
    const Row &first = monitor.rows()[0], &second = monitor.rows()[1];
    EXPECT_EQ(first[kExplodeGradient], 1);
    EXPECT_EQ(second[kExplodeGradient], 2);
    EXPECT_EQ(second[kLargeWeight], 2);
    EXPECT_EQ(second[kConsMeanWeight], 2);
    // The published history has batches and epochs, the repaired one epochs only.
    EXPECT_EQ(first[kLoss], repaired ? 0 : 1);
    EXPECT_EQ(second[kLoss], repaired ? 0.9 : 1.5);
    EXPECT_EQ(second[kValAcc], repaired ? 0.3 : 0);
    EXPECT_EQ(second[kIncreaseLoss], repaired ? 0 : 1);
    EXPECT_EQ(second[kNotConverge], repaired ? 1 : 0);
    EXPECT_EQ(second[kWeightChangeLittle], repaired ? 1 : 0);
  }
}

}  // namespace
}  // namespace neutra::fl_adapters::deepfd
