// Random networks on images and sequences: both back ends agree.
#include <gtest/gtest.h>

#include <algorithm>

#include "image_comparison.h"

namespace neutra::training::tests {
namespace {

/// A network that Keras accepts on sequences.
ImageCase random_sequences(Random& random) {
  ImageCase subject;
  subject.input = {6 + below(random, 12), pick(random, {1, 2, 3, 8, 16})};
  subject.batch = 4 + below(random, 6);
  subject.rows = 9 + below(random, 6);
  subject.layers = Json::array();
  std::int64_t steps = subject.input[0];
  const int count = 2 + below(random, 4);
  for (int i = 0; i < count; ++i) {
    const char* padding = pick(random, {"valid", "same", "causal"});
    const int window = 1 + below(random, static_cast<int>(std::min<std::int64_t>(4, steps)));
    const int stride = pick(random, {1, 1, 1, 2});
    const Json windows = {{"pool_size", window}, {"strides", stride}, {"padding", "same"}};
    bool same = true;
    switch (i == 0 ? 0 : below(random, 8)) {
      case 3:
        subject.layers.push_back(layer("MaxPooling1D", windows));
        break;
      case 4:
        subject.layers.push_back(layer("AveragePooling1D", windows));
        break;
      case 5:
        subject.layers.push_back(layer(pick(random, {"BatchNormalization", "LayerNormalization"})));
        continue;
      case 6:
        subject.layers.push_back(layer("GaussianNoise", {{"stddev", 0.2}}));
        continue;
      case 7:
        subject.layers.push_back(dense(pick(random, {1, 4, 8}), pick(random, {"relu", "tanh"})));
        continue;
      default:
        same = padding != std::string("valid");
        subject.layers.push_back(layer(
            "Conv1D",
            {{"filters", pick(random, {1, 3, 8, 16})},
             {"kernel_size", window},
             {"strides", stride},
             {"padding", padding},
             {"use_bias", below(random, 4) > 0},
             {"activation", pick(random, {"relu", "relu", "tanh", "elu", "linear", "softplus"})}}));
    }
    steps = same ? (steps + stride - 1) / stride : (steps - window) / stride + 1;
  }
  return subject;
}

/// A Conv2D becomes a SeparableConv2D or a DepthwiseConv2D.
void make_by_channel(Json& layer, bool separable) {
  layer["class_name"] = separable ? "SeparableConv2D" : "DepthwiseConv2D";
  if (!separable) layer["config"].erase("filters");
  layer["config"]["depth_multiplier"] = 2;
}

/// A network that Keras accepts on images of that size. `by_channel`: convolutions behind the first
/// one have kernels for each channel.
ImageCase random_subject(Random& random, bool by_channel = false) {
  ImageCase subject;
  subject.input = {6 + below(random, 10), 6 + below(random, 10), pick(random, {1, 2, 3, 8, 16})};
  subject.batch = 4 + below(random, 6);
  subject.rows = 9 + below(random, 6);
  subject.layers = Json::array();
  std::int64_t side = std::min(subject.input[0], subject.input[1]);
  const int count = 2 + below(random, 4);
  for (int i = 0; i < count; ++i) {
    const bool same = below(random, 2) == 0;
    const int window = 1 + below(random, static_cast<int>(std::min<std::int64_t>(3, side)));
    const int stride = pick(random, {1, 1, 1, 2});
    const Json padding = same ? "same" : "valid";
    switch (i == 0 ? 0 : below(random, 8)) {
      case 4:
        subject.layers.push_back(layer(
            "MaxPooling2D", {{"pool_size", window}, {"strides", stride}, {"padding", padding}}));
        break;
      case 5:
        subject.layers.push_back(
            layer("AveragePooling2D",
                  {{"pool_size", window}, {"strides", stride}, {"padding", padding}}));
        break;
      case 6:
        subject.layers.push_back(layer("BatchNormalization"));
        continue;
      case 7:
        subject.layers.push_back(below(random, 2) == 0 ? layer("Dropout", {{"rate", 0.3}})
                                                       : layer("ZeroPadding2D"));
        continue;
      default:
        subject.layers.push_back(conv(
            pick(random, {1, 3, 8, 16, 20, 32}), window,
            {{"strides", stride},
             {"padding", padding},
             {"use_bias", below(random, 4) > 0},
             {"activation", pick(random, {"relu", "relu", "tanh", "elu", "linear", "softplus"})}}));
        if (by_channel && i > 0) make_by_channel(subject.layers.back(), below(random, 2) == 0);
    }
    side = same ? (side + stride - 1) / stride : (side - window) / stride + 1;
  }
  return subject;
}

TEST(FusedConv, RandomNetworksAgreeWithEager) {
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    const ImageCase subject = random_subject(random);
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
  for (int i = 0; i < 60; ++i) {
    const ImageCase subject = i % 2 == 0 ? random_subject(random, true) : random_sequences(random);
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
}

}  // namespace
}  // namespace neutra::training::tests
