// Images in the fused back end, against the eager one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "image_comparison.h"
#include "program/layer.h"
#include "training/eager.h"
#include "training/fused/engine.h"

namespace neutra::training::tests {
namespace {

TEST(FusedConv, AgreesWithEager) {
  const Json relu = {{"activation", "relu"}};
  const std::vector<ImageCase> subjects{
      {{conv(4, 3)}, {7, 9, 1}},
      {{conv(5, {2, 3}, relu)}, {6, 5, 3}},
      {{conv(8, 3, relu)}, {9, 9, 1}},
      {{conv(16, 3, relu), conv(8, 3, relu)}, {9, 8, 3}},
      {{conv(32, 3, relu), conv(64, 3, relu), layer("MaxPooling2D"),
        layer("Dropout", {{"rate", 0.25}}), layer("Flatten"), dense(16, "relu"),
        dense(3, "softmax")},
       {12, 12, 1}},
      {{conv(16, 3, relu), layer("MaxPooling2D"), conv(32, 3, relu), layer("MaxPooling2D"),
        conv(16, 2, relu), layer("MaxPooling2D", {{"padding", "same"}})},
       {17, 18, 3}},
      {{conv(16, 3, {{"padding", "same"}, {"strides", 2}, {"activation", "tanh"}}),
        conv(16, 5, {{"padding", "same"}, {"strides", {2, 1}}, {"activation", "sigmoid"}})},
       {9, 7, 3}},
      {{conv(16, 4, {{"padding", "same"}}), conv(16, {3, 2}, {{"dilation_rate", {2, 3}}})},
       {11, 10, 2}},
      {{conv(16, 3, relu), conv(16, 3, {{"groups", 2}, {"activation", "elu"}})}, {8, 8, 3}},
      {{conv(6, 3, {{"groups", 3}, {"padding", "same"}, {"use_bias", false}})}, {8, 7, 6}},
      {{conv(16, 3, {{"use_bias", false}}), layer("BatchNormalization"),
        layer("Activation", {{"activation", "relu"}}), conv(16, 3), layer("BatchNormalization"),
        layer("ReLU"), layer("MaxPooling2D"), conv(7, 2), layer("BatchNormalization"),
        layer("LeakyReLU")},
       {14, 13, 3}},
      {{conv(16, 3, relu), layer("BatchNormalization", {{"scale", false}, {"center", false}}),
        layer("GlobalAveragePooling2D"), dense(3, "softmax")},
       {8, 8, 3}},
      {{conv(16, 3, relu), layer("GlobalMaxPooling2D"), dense(8, "relu"), dense(3, "softmax")},
       {8, 8, 1}},
      {{conv(3, 3), layer("GlobalAveragePooling2D"), layer("Softmax"), dense(3, "softmax")},
       {8, 8, 1}},
      {{conv(16, 3, {{"trainable", false}}), layer("AveragePooling2D"),
        layer("BatchNormalization", {{"trainable", false}}), conv(8, 2, relu)},
       {10, 9, 3}},
      {{layer("ZeroPadding2D", {{"padding", {{1, 0}, {2, 3}}}}), conv(16, 3, relu),
        layer("ZeroPadding2D"), layer("AveragePooling2D", {{"pool_size", 3}, {"strides", 2}}),
        layer("MaxPooling2D", {{"pool_size", 3}, {"strides", 1}, {"padding", "same"}}),
        conv(16, 1)},
       {8, 9, 3}},
      {{layer("BatchNormalization"), layer("MaxPooling2D"), conv(8, 2, {{"activation", "selu"}}),
        layer("Dropout", {{"rate", 0.5}}), conv(16, 2, {{"activation", "swish"}})},
       {9, 9, 3}},
      {{layer("Flatten"), dense(48, "relu"), layer("Reshape", {{"target_shape", {2, 3, 8}}}),
        conv(16, 2, relu), layer("MaxPooling2D", {{"pool_size", 1}})},
       {4, 4, 1}},
  };
  for (const ImageCase& subject : subjects) {
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
}

TEST(FusedConv, WinogradAgreesWithEager) {
  for (const std::int64_t size : {4, 5, 7, 8, 12, 15}) {
    for (const char* padding : {"same", "valid"}) {
      const Json config = {{"padding", padding}, {"activation", "tanh"}};
      expect_agreement(
          {{conv(16, 1), conv(32, 3, config), conv(16, 3, config)}, {size + 2, size + 3, 3}, 5, 7});
      expect_agreement({{conv(16, 3, {{"padding", padding}, {"use_bias", false}})},
                        {size, size + 1, 24}});  // of the input without a gradient
    }
  }
}

/// A pooling goes together with the convolution before it, some images at a time.
TEST(FusedConv, WinogradWithAPoolingBehind) {
  for (const char* activation : {"relu", "linear", "tanh"}) {
    for (const Json& window : {Json({{"pool_size", 2}}), Json({{"pool_size", 3}, {"strides", 1}}),
                               Json({{"pool_size", 3}, {"padding", "same"}})}) {
      const Json pooling = layer("MaxPooling2D", window);
      expect_agreement({{conv(16, 3, {{"activation", activation}}), pooling,
                         conv(32, 3, {{"activation", activation}}), pooling},
                        {26, 25, 8},
                        19,
                        30});
    }
  }
}

TEST(FusedConv, ValuesThatNobodyLooksAtChangeNothing) {
  const ImageCase subject{
      {conv(16, 3, {{"activation", "relu"}}), layer("MaxPooling2D"), conv(16, 3),
       layer("MaxPooling2D"), layer("Flatten"), dense(3, "softmax")},
      {20, 20, 8}};
  constexpr std::int64_t kRows = 70;
  const program::ResolvedProgram program =
      resolved(subject.layers, subject.input, optimizer("SGD", 0.01), "categorical_crossentropy",
               {3}, kRows, 64);
  Random random(9);
  Array x{with_rows(kRows, subject.input), numbers(random, kRows * 20 * 20 * 8)}, y{{kRows, 3}, {}};
  for (int i = 0; i < kRows; ++i) y.values.insert(y.values.end(), {1, 0, 0});
  const Rows all{&x, &y, 0, kRows};
  std::vector<std::int64_t> rows(64);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::vector<float>> weights;
  std::vector<double> losses;
  for (const bool looked_at : {false, true}) {
    const auto engine = make_fused_engine(program, all, {1, 5});
    for (std::uint32_t step = 0; step < 3; ++step) {
      losses.push_back(engine->step(rows, step, {true, true, looked_at}));
    }
    const auto values = engine->weights().all();
    weights.emplace_back(values.begin(), values.end());
    losses.push_back(looked_at ? engine->look(rows) : engine->evaluate({&x, &y, 0, 64}, {}, 64));
  }
  EXPECT_TRUE(same_bits(weights[0], weights[1]));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(losses[i], losses[i + 4]);
  EXPECT_NEAR(losses[3], losses[7], 1e-6);
}

TEST(FusedConv, SequencesAndChannelsAgreeWithEager) {
  const auto sequence = [](int filters, int window, Json more = Json::object()) {
    Json config = {{"filters", filters}, {"kernel_size", window}};
    config.update(more);
    return layer("Conv1D", std::move(config));
  };
  const Json relu = {{"activation", "relu"}};
  const std::vector<ImageCase> subjects{
      {{sequence(8, 3, relu), layer("MaxPooling1D"), sequence(16, 2, relu),
        layer("GlobalMaxPooling1D"), dense(3, "softmax")},
       {21, 5}},
      {{sequence(8, 3, {{"padding", "causal"}, {"dilation_rate", 2}, {"activation", "tanh"}}),
        layer("LayerNormalization"), sequence(6, 4, {{"padding", "causal"}, {"strides", 3}}),
        layer("AveragePooling1D", {{"padding", "same"}}), layer("GlobalAveragePooling1D"),
        dense(3, "softmax")},
       {20, 3}},
      {{sequence(6, 3, {{"groups", 3}, {"padding", "same"}, {"use_bias", false}}),
        layer("BatchNormalization"), layer("ReLU"), layer("MaxPooling1D", {{"strides", 1}}),
        dense(7, "relu"), layer("GaussianNoise", {{"stddev", 0.2}}), layer("Flatten"),
        dense(3, "softmax")},
       {9, 6}},
      {{layer("GaussianNoise", {{"stddev", 0.5}}), dense(8, "tanh"), layer("LayerNormalization"),
        dense(4, "relu", {{"use_bias", false}}), sequence(5, 1, {{"strides", 2}})},
       {7, 4}},
      {{layer("Flatten"), dense(24, "relu"), layer("Reshape", {{"target_shape", {6, 4}}}),
        sequence(8, 3, relu), layer("LayerNormalization", {{"scale", false}})},
       {4, 4, 1}},
      {{layer("DepthwiseConv2D", {{"kernel_size", 3}, {"activation", "relu"}}),
        layer("MaxPooling2D"),
        layer("DepthwiseConv2D",
              {{"kernel_size", 2}, {"strides", 2}, {"padding", "same"}, {"depth_multiplier", 3}})},
       {12, 11, 8}},
      {{layer("SeparableConv2D", {{"filters", 12}, {"kernel_size", 3}, {"activation", "relu"}}),
        layer("LayerNormalization"),
        layer("SeparableConv2D", {{"filters", 16},
                                  {"kernel_size", {3, 2}},
                                  {"padding", "same"},
                                  {"depth_multiplier", 2},
                                  {"trainable", false}}),
        layer("DepthwiseConv2D", {{"kernel_size", 1}, {"strides", 2}}), dense(5, "tanh")},
       {9, 10, 3}},
      {{conv(4, 3, relu), dense(6, "relu"), layer("GaussianNoise", {{"stddev", 0.1}}),
        layer("DepthwiseConv2D", {{"kernel_size", 2}, {"dilation_rate", 2}, {"use_bias", false}})},
       {9, 8, 2}},
  };
  for (const ImageCase& subject : subjects) {
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
}

TEST(FusedConv, NamesWhatItDoesNotKnow) {
  for (const Json& unknown : {layer("LSTM", {{"units", 3}}), layer("GRU", {{"units", 3}}),
                              layer("SimpleRNN", {{"units", 3}}),
                              layer("Embedding", {{"input_dim", 3}, {"output_dim", 2}})}) {
    const bool table = unknown["class_name"] == "Embedding";
    Json layers = Json::array({unknown});
    if (table) layers.push_back(layer("Flatten"));
    layers.push_back(dense(3, "softmax"));
    const program::Shape input = table ? program::Shape{4} : program::Shape{5, 2};
    const program::ResolvedProgram program =
        resolved(layers, input, optimizer("Adam", 0.01), "categorical_crossentropy", {3}, 8);
    Array x{with_rows(8, input),
            std::vector<float>(static_cast<std::size_t>(8 * program::element_count(input)))};
    Array y{{8, 3}, std::vector<float>(24)};
    EXPECT_EQ(fused_refusal(program, {&x, &y, 0, 8}),
              "layer " + unknown["class_name"].get<std::string>());
  }
}

TEST(FusedConv, NaNGoesThroughAsInEager) {
  const ImageCase subject{
      {conv(16, 3, {{"activation", "relu"}}), layer("MaxPooling2D"),
       conv(8, 2, {{"activation", "relu"}}), layer("Flatten"), dense(3, "softmax")},
      {8, 8, 3}};
  const program::ResolvedProgram program = resolved(
      subject.layers, subject.input, optimizer("SGD", 0.01), "categorical_crossentropy", {3}, 8, 8);
  Random random(9);
  Array x{with_rows(8, subject.input), numbers(random, 8 * 8 * 8 * 3)}, y{{8, 3}, {}};
  x.values[5] = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < 8; ++i) y.values.insert(y.values.end(), {1, 0, 0});
  const Rows all{&x, &y, 0, 8};
  const auto eager = make_eager_engine(program, all, {1, 5});
  const auto fused = make_fused_engine(program, all, {1, 5});
  const std::vector<std::int64_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
  eager->step(rows, 0, {true, true, true});
  fused->step(rows, 0, {true, true, true});
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const auto ours = fused->activations()[i], theirs = eager->activations()[i];
    for (std::size_t k = 0; k < ours.size(); ++k) {
      ASSERT_EQ(std::isnan(ours[k]), std::isnan(theirs[k])) << "layer " << i << ", value " << k;
    }
  }
  const auto ours = fused->weights().all(), theirs = eager->weights().all();
  for (std::size_t k = 0; k < ours.size(); ++k) {
    ASSERT_EQ(std::isnan(ours[k]), std::isnan(theirs[k])) << "weight " << k;
  }
}

}  // namespace
}  // namespace neutra::training::tests
