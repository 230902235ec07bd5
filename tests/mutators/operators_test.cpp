#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "mutators/registry.h"

namespace neutra::mutators {
namespace {

using Words = std::vector<std::string>;

Words values(program::KeyKind kind, const std::string& current, Preset preset = Preset::kPaper) {
  return find_operator(kind)->values(current, preset);
}

TEST(Preset, Words) {
  EXPECT_EQ(parse_preset("paper"), Preset::kPaper);
  EXPECT_EQ(parse_preset("keras"), Preset::kKeras);
  EXPECT_EQ(parse_preset("Paper"), std::nullopt);
  EXPECT_EQ(to_string(Preset::kKeras), "keras");
}

TEST(Preset, NoValueTwice) {
  for (const Preset preset : {Preset::kPaper, Preset::kKeras}) {
    for (const program::KeyKind kind :
         {program::KeyKind::kActivation, program::KeyKind::kKernelInitializer,
          program::KeyKind::kBiasInitializer, program::KeyKind::kLoss, program::KeyKind::kOptimizer,
          program::KeyKind::kBatchSize, program::KeyKind::kRepeat}) {
      const Words& list = preset_values(preset, kind);
      EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), list.size())
          << to_string(kind);
    }
  }
}

TEST(Preset, KerasHoldsThePapersValues) {
  for (const program::KeyKind kind :
       {program::KeyKind::kActivation, program::KeyKind::kKernelInitializer,
        program::KeyKind::kBiasInitializer, program::KeyKind::kLoss, program::KeyKind::kOptimizer,
        program::KeyKind::kBatchSize, program::KeyKind::kRepeat}) {
    const Words& keras = preset_values(Preset::kKeras, kind);
    for (const std::string& value : preset_values(Preset::kPaper, kind)) {
      EXPECT_NE(std::find(keras.begin(), keras.end(), value), keras.end()) << value;
    }
  }
  EXPECT_EQ(preset_values(Preset::kKeras, program::KeyKind::kActivation).size(), 13u);
  EXPECT_EQ(preset_values(Preset::kKeras, program::KeyKind::kOptimizer).size(), 8u);
  EXPECT_EQ(preset_values(Preset::kKeras, program::KeyKind::kLoss).size(), 15u);
}

TEST(ChangeActivationFunction, Values) {
  EXPECT_EQ(values(program::KeyKind::kActivation, "tanh"),
            (Words{"relu", "sigmoid", "exponential", "softmax"}));
}

TEST(ChangeKernelInitialiser, Values) {
  EXPECT_EQ(values(program::KeyKind::kKernelInitializer, "zeros"),
            (Words{"he_normal", "glorot_normal", "random_normal"}));
}

TEST(ChangeBiasInitialiser, Values) {
  EXPECT_EQ(values(program::KeyKind::kBiasInitializer, "zeros"),
            (Words{"he_normal", "glorot_normal", "random_normal"}));
  // Keras refuses both on a vector.
  const Words keras = values(program::KeyKind::kBiasInitializer, "zeros", Preset::kKeras);
  EXPECT_EQ(std::count(keras.begin(), keras.end(), "identity"), 0);
  EXPECT_EQ(std::count(keras.begin(), keras.end(), "orthogonal"), 0);
}

TEST(ChangeLossFunction, Values) {
  const Words losses = values(program::KeyKind::kLoss, "huber");
  EXPECT_EQ(losses.size(), 13u);
  EXPECT_EQ(losses.front(), "mean_squared_error");
  EXPECT_EQ(losses.back(), "poisson");
}

TEST(ChangeOptimiser, Values) {
  EXPECT_EQ(values(program::KeyKind::kOptimizer, "adam"), (Words{"adamax", "nadam", "sgd"}));
}

TEST(ChangeBatchSize, Values) {
  EXPECT_EQ(values(program::KeyKind::kBatchSize, "10"),
            (Words{"16", "32", "64", "128", "256", "512"}));
}

TEST(ChangeLayer, Values) {
  EXPECT_EQ(values(program::KeyKind::kRepeat, "1"), (Words{"0", "1", "2"}));
}

TEST(ChangeLearningRate, DecimalClean) {
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "0.001"), (Words{"0.01", "0.0001"}));
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "0.1"), (Words{"1.0", "0.01"}));
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "0.0001"), (Words{"0.001", "1e-05"}));
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "3.0"), (Words{"30.0", "0.3"}));
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "0.3"), (Words{"3.0", "0.03"}));
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "1.0"), (Words{"10.0", "0.1"}));
}

TEST(ChangeLearningRate, ThereAndBackAgain) {
  for (const char* start : {"0.001", "0.002", "0.3", "0.7", "1.0", "3.0", "1e-07"}) {
    std::string rate = start;
    for (int i = 0; i < 6; ++i) rate = values(program::KeyKind::kLearningRate, rate).at(1);
    for (int i = 0; i < 6; ++i) rate = values(program::KeyKind::kLearningRate, rate).at(0);
    EXPECT_EQ(rate, start);
  }
}

TEST(ChangeLearningRate, StaysFinite) {
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "1e308"), (Words{"1e+307"}));
  EXPECT_EQ(values(program::KeyKind::kLearningRate, "0.0"), Words{});
}

TEST(ChangeLearningRate, RefusesWhatIsNoNumber) {
  for (const char* rate : {"", "fast", "0.1x", "nan", "inf", "0,1"}) {
    EXPECT_THROW(values(program::KeyKind::kLearningRate, rate), Error) << rate;
  }
}

TEST(ChangeEpochs, HalvesDownToOne) {
  EXPECT_EQ(values(program::KeyKind::kEpochs, "12"), (Words{"24", "6"}));
  EXPECT_EQ(values(program::KeyKind::kEpochs, "15"), (Words{"30", "7"}));
  EXPECT_EQ(values(program::KeyKind::kEpochs, "2"), (Words{"4", "1"}));
  EXPECT_EQ(values(program::KeyKind::kEpochs, "1"), (Words{"2"}));
}

TEST(ChangeNumberOfNeurons, HalvesDownToOne) {
  EXPECT_EQ(values(program::KeyKind::kUnits, "512"), (Words{"1024", "256"}));
  EXPECT_EQ(values(program::KeyKind::kUnits, "15"), (Words{"30", "7"}));
  EXPECT_EQ(values(program::KeyKind::kUnits, "1"), (Words{"2"}));
  EXPECT_EQ(values(program::KeyKind::kUnits, "2147483647"), (Words{"1073741823"}));
}

TEST(ChangeNumberOfNeurons, RefusesWhatIsNoCount) {
  for (const char* units : {"0", "-2", "1.5", "many", "1e300"}) {
    EXPECT_THROW(values(program::KeyKind::kUnits, units), Error) << units;
  }
  EXPECT_EQ(values(program::KeyKind::kUnits, "32.0"),
            (Words{"64", "16"}));  // so spelled in some records
}

}  // namespace
}  // namespace neutra::mutators
