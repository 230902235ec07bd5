// Recurrent layers and embeddings of the eager back end.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "layer_tensors.h"

namespace neutra::training::tests {
namespace {

/// What a recurrent layer of one unit makes of 8 steps of 1 in training: its outputs at all steps,
/// for `weights` that let the masks be seen, to three decimals: gates don't close entirely.
std::vector<float> masked_steps(const std::string& class_name, Json config,
                                const std::vector<std::vector<float>>& weights,
                                std::uint32_t step) {
  config.update({{"units", 1}, {"activation", "linear"}, {"return_sequences", true}});
  const program::ResolvedLayer tested = single(layer(class_name, config), {8, 1});
  std::vector<at::Tensor> variables;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    variables.push_back(tensor(weights[k], tested.weights[k].shape));
  }
  const ForwardPass pass{true, {1, 2}, step};
  const at::Tensor y = make_module(tested)->forward(at::ones({1, 8, 1}), variables, pass);
  const at::Tensor rounded = at::round(y * 1000) / 1000;
  return {rounded.data_ptr<float>(), rounded.data_ptr<float>() + rounded.numel()};
}

// As seen in TensorFlow 2.15.1 in a tf.function, such as fit() is.
TEST(Recurrent, DropoutMasksChangeFromStepToStepUnlessUnrolled) {
  // The candidates alone, so that an output is the input under its mask.
  const std::vector<std::vector<float>> lstm{{0, 0, 1, 0}, {0, 0, 0, 0}, {50, -50, 0, 50}};
  const std::vector<std::vector<float>> gru{{0, 0, 1}, {0, 0, 0}, {-50, 0, 0, 0, 0, 0}};
  const std::vector<std::vector<float>> simple{{1}, {0}, {0}};
  for (const auto& [class_name, weights] :
       {std::pair{"LSTM", lstm}, std::pair{"GRU", gru}, std::pair{"SimpleRNN", simple}}) {
    int changes = 0, zeros = 0;
    for (std::uint32_t step = 0; step < 20; ++step) {
      const auto free = masked_steps(class_name, {{"dropout", 0.5}}, weights, step);
      const auto unrolled =
          masked_steps(class_name, {{"dropout", 0.5}, {"unroll", true}}, weights, step);
      for (std::size_t t = 0; t < 8; ++t) {
        EXPECT_TRUE(free[t] == 0 || free[t] == 2) << class_name << " " << free[t];
        EXPECT_EQ(unrolled[t], unrolled[0]) << class_name;
        changes += free[t] != free[0];
        zeros += unrolled[t] == 0;
      }
    }
    EXPECT_GT(changes, 40) << class_name;
    EXPECT_GT(zeros, 20) << class_name;
    EXPECT_LT(zeros, 140) << class_name;
  }
}

TEST(Recurrent, RecurrentDropoutMasksTheState) {
  // h = 1 + mask h.
  const std::vector<std::vector<float>> weights{{1}, {1}, {0}};
  std::set<float> seen;
  for (std::uint32_t step = 0; step < 20; ++step) {
    const auto h = masked_steps("SimpleRNN", {{"recurrent_dropout", 0.5}}, weights, step);
    EXPECT_EQ(h[0], 1);
    for (std::size_t t = 1; t < 8; ++t) {
      EXPECT_TRUE(h[t] == 1 || h[t] == 1 + 2 * h[t - 1]) << h[t];
    }
    seen.insert(h[7]);
    const auto unrolled =
        masked_steps("SimpleRNN", {{"recurrent_dropout", 0.5}, {"unroll", true}}, weights, step);
    EXPECT_TRUE(unrolled[7] == 1 || unrolled[7] == 255) << unrolled[7];
  }
  EXPECT_GT(seen.size(), 3u);
}

TEST(Recurrent, GatesHaveMasksOfTheirOwnWithRecurrentDropout) {
  // i is 0 or 1 by its mask, o is sigmoid(0) or sigmoid(2) by its own: h = i o.
  const std::vector<std::vector<float>> weights{{50, 0, 0, 1}, {0, 0, 0, 0}, {-25, -50, 1, 0}};
  const auto opens_half = [&](const Json& config) {
    bool half = false;
    for (std::uint32_t step = 0; step < 20; ++step) {
      for (const float h : masked_steps("LSTM", config, weights, step)) {
        half = half || std::abs(h - 0.5f) < 1e-3f;
      }
    }
    return half;
  };
  EXPECT_FALSE(opens_half({{"dropout", 0.5}}));
  EXPECT_TRUE(opens_half({{"dropout", 0.5}, {"recurrent_dropout", 0.1}}));
  EXPECT_TRUE(opens_half({{"dropout", 0.5}, {"implementation", 1}}));
}

TEST(Embedding, RefusesIndicesThatItHasNoRowFor) {
  const program::ResolvedLayer tested =
      single(layer("Embedding", {{"input_dim", 3}, {"output_dim", 2}}), {2});
  std::vector<at::Tensor> table{at::ones({3, 2})};
  const auto module = make_module(tested);
  EXPECT_NO_THROW(module->forward(tensor({-0.9, 2.9}, {1, 2}), table, {}));
  for (const double index : {3.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    try {
      module->forward(at::full({1, 2}, index), table, {});
      ADD_FAILURE() << index;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("indices from 0 to 2"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace neutra::training::tests
