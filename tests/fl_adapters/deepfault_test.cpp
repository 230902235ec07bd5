#include "fl_adapters/tools/deepfault.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fl_adapters/trained_model.h"

namespace neutra::fl_adapters {
namespace {

using deepfault::LayerSpectrum;
using deepfault::Measure;
using deepfault::Spectrum;

/// 4 failing and 10 passing rows; active in 3 and 2 of them.
constexpr Spectrum kWorked{3, 2, 1, 8};

TEST(DeepFaultMeasures, WorkedByHand) {
  // (3/4) / (3/4 + 2/10)
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kTarantula, kWorked), 0.75 / 0.95);
  // 3 / sqrt(4 * 5)
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kOchiai, kWorked), 3 / std::sqrt(20.0));
  // 27 / (2 + 1)
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kDStar, kWorked), 9);
}

TEST(DeepFaultMeasures, ANeuronThatIsAlwaysActiveIsHalfSuspicious) {
  // As every layer of the case study that knows layers only: Tarantula 0.5.
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kTarantula, {11, 9, 0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kOchiai, {11, 9, 0, 0}), 11 / std::sqrt(11.0 * 20));
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kDStar, {2, 4, 0, 0}), 2);
}

TEST(DeepFaultMeasures, NothingByNothingIsNothing) {
  const Spectrum never{0, 0, 3, 5}, all_pass{0, 4, 0, 1}, all_fail{4, 0, 1, 0}, no_rows{};
  for (const Measure measure : {Measure::kTarantula, Measure::kOchiai, Measure::kDStar}) {
    EXPECT_EQ(suspiciousness(measure, never), 0);
    EXPECT_EQ(suspiciousness(measure, all_pass), 0);
    EXPECT_EQ(suspiciousness(measure, no_rows), 0);
  }
  // NumPy's NaN for 0 passing rows makes Tarantula 0; the others don't ask for them.
  EXPECT_EQ(suspiciousness(Measure::kTarantula, all_fail), 0);
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kOchiai, all_fail), 4 / std::sqrt(5.0 * 4));
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kDStar, all_fail), 64);
}

TEST(DeepFaultMeasures, ActiveExactlyWhereRowsFailIsTheMost) {
  const Spectrum exact{4, 0, 0, 10};
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kTarantula, exact), 1);
  EXPECT_DOUBLE_EQ(suspiciousness(Measure::kOchiai, exact), 1);
  EXPECT_TRUE(std::isinf(suspiciousness(Measure::kDStar, exact)));
}

TEST(DeepFaultSpectrum, CountsUnits) {
  LayerSpectrum layer{2, std::vector<Spectrum>(2)};
  // Three rows of two units; 0 is not active, anything above it is.
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> outputs{1, 0, -kTiny, 2, kTiny, 3};
  layer.add(outputs, {true, false, false});
  EXPECT_EQ(layer.neurons[0], (Spectrum{1, 1, 1, 0}));
  EXPECT_EQ(layer.neurons[1], (Spectrum{2, 0, 0, 1}));
  layer.add(std::vector<float>{1, -1}, {true});
  EXPECT_EQ(layer.neurons[0], (Spectrum{1, 2, 1, 0}));
  EXPECT_EQ(layer.neurons[1], (Spectrum{2, 0, 0, 2}));
}

TEST(DeepFaultSpectrum, AFilterIsActiveWhereItsMeanIs) {
  LayerSpectrum layer{0, std::vector<Spectrum>(2)};
  // One row of 2 x 1 positions of two filters: means 0.5 and -0.5.
  layer.add(std::vector<float>{2, -2, -1, 1}, {false});
  EXPECT_EQ(layer.neurons[0], (Spectrum{1, 0, 0, 0}));
  EXPECT_EQ(layer.neurons[1], (Spectrum{0, 0, 1, 0}));
}

TEST(DeepFaultRanking, ALayerIsAsSuspiciousAsItsWorstNeuron) {
  const std::vector<evaluators::Suspect> list = deepfault::ranking(
      {{0, {{1, 5, 3, 5}, {4, 0, 0, 10}}}, {3, {{3, 2, 1, 8}, {2, 2, 2, 8}}}}, Measure::kTarantula);
  ASSERT_EQ(list.size(), 6u);
  EXPECT_EQ(list[0].layer, 0);
  EXPECT_EQ(list[0].neuron, -1);
  EXPECT_DOUBLE_EQ(list[0].suspiciousness, 1);
  EXPECT_EQ(list[1].layer, 3);
  EXPECT_EQ(list[1].neuron, -1);
  EXPECT_DOUBLE_EQ(list[1].suspiciousness, 0.75 / 0.95);
  // Then the neurons of all layers.
  EXPECT_EQ(std::pair(list[2].layer, list[2].neuron), std::pair(0, std::int64_t{1}));
  EXPECT_EQ(std::pair(list[3].layer, list[3].neuron), std::pair(3, std::int64_t{0}));
  EXPECT_EQ(std::pair(list[4].layer, list[4].neuron), std::pair(3, std::int64_t{1}));
  EXPECT_EQ(std::pair(list[5].layer, list[5].neuron), std::pair(0, std::int64_t{0}));
}

}  // namespace
}  // namespace neutra::fl_adapters
