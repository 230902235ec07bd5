#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "image_programs.h"
#include "program/layer.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/fused/images.h"

/// Images in the fused back end, against the eager one and against the loops that it uses.
namespace neutra::training {
namespace {

using Random = std::mt19937;

int below(Random& random, int count) {
  return static_cast<int>(random() % static_cast<unsigned>(count));
}
template <typename T>
T pick(Random& random, std::initializer_list<T> values) {
  return values.begin()[below(random, static_cast<int>(values.size()))];
}
float number(Random& random) { return static_cast<float>(random() >> 8) * 0x1p-23f - 1; }

std::vector<float> numbers(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = number(random);
  return values;
}

constexpr double kTolerance = 1e-5;  ///< of a vector's norm

struct Subject {
  Json layers;
  program::Shape input;
  std::int64_t batch = 8, rows = 13;  ///< a last batch of 5
};

Json conv(int filters, Json kernel, Json more = Json::object()) {
  Json config = {{"filters", filters}, {"kernel_size", kernel}};
  config.update(more);
  return layer("Conv2D", std::move(config));
}
Json plain(const char* class_name, Json config = Json::object()) {
  return layer(class_name, std::move(config));
}

struct Difference {
  double worst = 0;
  std::string where;
  void note(double value, const std::string& what) {
    if (value <= worst) return;
    worst = value;
    where = what;
  }
};

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}
double distance(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

/// Both engines through one epoch: losses, outputs of all layers, gradients of all variables, the
/// moving statistics, evaluation. Each is compared by its norm. A gradient can't be known better
/// than it changes when the weights do by rounding: so much is taken off the difference. Before a
/// normalisation, where gradients cancel (a bias has none), it is measured by all of them.
Difference compare(const program::ResolvedProgram& program, const Subject& subject, unsigned seed) {
  Random random(seed);
  Array x{with_rows(subject.rows, subject.input), {}};
  x.values = numbers(
      random, static_cast<std::size_t>(subject.rows * program::element_count(subject.input)));
  Array y{{subject.rows, 3}, std::vector<float>(static_cast<std::size_t>(subject.rows * 3))};
  for (std::int64_t i = 0; i < subject.rows; ++i) {
    y.values[static_cast<std::size_t>(3 * i + below(random, 3))] = 1;
  }
  const Rows all{&x, &y, 0, subject.rows};
  EXPECT_EQ(fused_refusal(program, all), std::nullopt);
  const auto eager = make_eager_engine(program, all, {seed, 5});
  const auto fused = make_fused_engine(program, all, {seed, 5});
  const auto nudged = make_eager_engine(program, all, {seed, 5});
  std::vector<std::int64_t> order(static_cast<std::size_t>(subject.rows));
  std::iota(order.rbegin(), order.rend(), std::int64_t{0});

  const bool normalises = std::any_of(program.layers.begin(), program.layers.end(),
                                      [](const program::ResolvedLayer& layer) {
                                        return layer.class_name.ends_with("Normalization");
                                      });
  Difference difference;
  std::uint32_t step = 0;
  for (std::int64_t begin = 0; begin < subject.rows; begin += subject.batch, ++step) {
    // The same weights, so that each step is compared for itself.
    std::copy(eager->weights().all().begin(), eager->weights().all().end(),
              fused->weights().all().begin());
    const auto count = static_cast<std::size_t>(std::min(subject.batch, subject.rows - begin));
    const std::span<const std::int64_t> rows{order.data() + begin, count};
    std::copy(eager->weights().all().begin(), eager->weights().all().end(),
              nudged->weights().all().begin());
    for (float& w : nudged->weights().all()) w *= 1 + number(random) * 0x1p-21f;
    nudged->gradients(rows, step, {});
    const double expected = eager->step(rows, step, {true, true, true});
    const double actual = fused->step(rows, step, {true, true, true});
    difference.note(std::abs(actual - expected) / std::max(1.0, std::abs(expected)), "loss");
    const auto ours = fused->activations(), theirs = eager->activations();
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      difference.note(distance(ours[i], theirs[i]) / std::max(1e-3, norm(theirs[i])),
                      "output of layer " + std::to_string(i));
    }
    const double least = normalises ? 0.1 * norm(eager->weights().gradients()) : 1e-6;
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      const std::vector<Weights::Variable>& variables = eager->weights().of_layer(i);
      for (std::size_t k = 0; k < variables.size(); ++k) {
        const auto what = "variable " + std::to_string(k) + " of layer " + std::to_string(i);
        const Extent& extent = variables[k].extent;
        if (variables[k].trainable) {
          const auto gradient = extent.of(eager->weights().gradients());
          const double apart = distance(extent.of(fused->weights().gradients()), gradient);
          const double rounding = distance(extent.of(nudged->weights().gradients()), gradient);
          difference.note((apart - 2 * rounding) / std::max(norm(gradient), least),
                          "gradient of " + what);
        } else {
          difference.note(distance(variable(*fused, i, k), variable(*eager, i, k)) /
                              std::max(1e-3, norm(variable(*eager, i, k))),
                          what);
        }
      }
    }
  }
  std::copy(eager->weights().all().begin(), eager->weights().all().end(),
            fused->weights().all().begin());
  for (const std::int64_t loss_rows : {32, 5}) {
    const double expected = eager->evaluate(all, {}, loss_rows);
    difference.note(std::abs(fused->evaluate(all, {}, loss_rows) - expected) /
                        std::max(1.0, std::abs(expected)),
                    "evaluation");
  }
  return difference;
}

/// A relu or a maximum may turn the other way by rounding: then the next data decide. A real error
/// shows with all.
void expect_agreement(const Subject& subject) {
  Json layers = subject.layers;
  if (layers.back()["config"].value("activation", "") != "softmax") {
    layers.push_back(plain("Flatten"));
    layers.push_back(dense(3, "softmax"));
  }
  const program::ResolvedProgram program =
      resolved(layers, subject.input, optimizer("Adam", 0.01), "categorical_crossentropy", {3},
               subject.rows, subject.batch);
  Difference difference;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    difference = compare(program, subject, seed);
    if (difference.worst <= kTolerance || ::testing::Test::HasFailure()) break;
  }
  EXPECT_LE(difference.worst, kTolerance) << difference.where << " of " << subject.layers << " on "
                                          << program::to_string(subject.input);
}

TEST(FusedConv, AgreesWithEager) {
  const Json relu = {{"activation", "relu"}};
  const std::vector<Subject> subjects{
      {{conv(4, 3)}, {7, 9, 1}},
      {{conv(5, {2, 3}, relu)}, {6, 5, 3}},
      {{conv(8, 3, relu)}, {9, 9, 1}},
      {{conv(16, 3, relu), conv(8, 3, relu)}, {9, 8, 3}},
      {{conv(32, 3, relu), conv(64, 3, relu), plain("MaxPooling2D"),
        plain("Dropout", {{"rate", 0.25}}), plain("Flatten"), dense(16, "relu"),
        dense(3, "softmax")},
       {12, 12, 1}},
      {{conv(16, 3, relu), plain("MaxPooling2D"), conv(32, 3, relu), plain("MaxPooling2D"),
        conv(16, 2, relu), plain("MaxPooling2D", {{"padding", "same"}})},
       {17, 18, 3}},
      {{conv(16, 3, {{"padding", "same"}, {"strides", 2}, {"activation", "tanh"}}),
        conv(16, 5, {{"padding", "same"}, {"strides", {2, 1}}, {"activation", "sigmoid"}})},
       {9, 7, 3}},
      {{conv(16, 4, {{"padding", "same"}}), conv(16, {3, 2}, {{"dilation_rate", {2, 3}}})},
       {11, 10, 2}},
      {{conv(16, 3, relu), conv(16, 3, {{"groups", 2}, {"activation", "elu"}})}, {8, 8, 3}},
      {{conv(6, 3, {{"groups", 3}, {"padding", "same"}, {"use_bias", false}})}, {8, 7, 6}},
      {{conv(16, 3, {{"use_bias", false}}), plain("BatchNormalization"),
        plain("Activation", {{"activation", "relu"}}), conv(16, 3), plain("BatchNormalization"),
        plain("ReLU"), plain("MaxPooling2D"), conv(7, 2), plain("BatchNormalization"),
        plain("LeakyReLU")},
       {14, 13, 3}},
      {{conv(16, 3, relu), plain("BatchNormalization", {{"scale", false}, {"center", false}}),
        plain("GlobalAveragePooling2D"), dense(3, "softmax")},
       {8, 8, 3}},
      {{conv(16, 3, relu), plain("GlobalMaxPooling2D"), dense(8, "relu"), dense(3, "softmax")},
       {8, 8, 1}},
      {{conv(3, 3), plain("GlobalAveragePooling2D"), plain("Softmax"), dense(3, "softmax")},
       {8, 8, 1}},
      {{conv(16, 3, {{"trainable", false}}), plain("AveragePooling2D"),
        plain("BatchNormalization", {{"trainable", false}}), conv(8, 2, relu)},
       {10, 9, 3}},
      {{plain("ZeroPadding2D", {{"padding", {{1, 0}, {2, 3}}}}), conv(16, 3, relu),
        plain("ZeroPadding2D"), plain("AveragePooling2D", {{"pool_size", 3}, {"strides", 2}}),
        plain("MaxPooling2D", {{"pool_size", 3}, {"strides", 1}, {"padding", "same"}}),
        conv(16, 1)},
       {8, 9, 3}},
      {{plain("BatchNormalization"), plain("MaxPooling2D"), conv(8, 2, {{"activation", "selu"}}),
        plain("Dropout", {{"rate", 0.5}}), conv(16, 2, {{"activation", "swish"}})},
       {9, 9, 3}},
      {{plain("Flatten"), dense(48, "relu"), plain("Reshape", {{"target_shape", {2, 3, 8}}}),
        conv(16, 2, relu), plain("MaxPooling2D", {{"pool_size", 1}})},
       {4, 4, 1}},
  };
  for (const Subject& subject : subjects) {
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

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  }
  return a.size() == b.size();
}

/// A pooling goes together with the convolution before it, some images at a time.
TEST(FusedConv, WinogradWithAPoolingBehind) {
  for (const char* activation : {"relu", "linear", "tanh"}) {
    for (const Json& window : {Json({{"pool_size", 2}}), Json({{"pool_size", 3}, {"strides", 1}}),
                               Json({{"pool_size", 3}, {"padding", "same"}})}) {
      const Json pooling = plain("MaxPooling2D", window);
      expect_agreement({{conv(16, 3, {{"activation", activation}}), pooling,
                         conv(32, 3, {{"activation", activation}}), pooling},
                        {26, 25, 8},
                        19,
                        30});
    }
  }
}

TEST(FusedConv, ValuesThatNobodyLooksAtChangeNothing) {
  const Subject subject{{conv(16, 3, {{"activation", "relu"}}), plain("MaxPooling2D"), conv(16, 3),
                         plain("MaxPooling2D"), plain("Flatten"), dense(3, "softmax")},
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
    return plain("Conv1D", std::move(config));
  };
  const Json relu = {{"activation", "relu"}};
  const std::vector<Subject> subjects{
      {{sequence(8, 3, relu), plain("MaxPooling1D"), sequence(16, 2, relu),
        plain("GlobalMaxPooling1D"), dense(3, "softmax")},
       {21, 5}},
      {{sequence(8, 3, {{"padding", "causal"}, {"dilation_rate", 2}, {"activation", "tanh"}}),
        plain("LayerNormalization"), sequence(6, 4, {{"padding", "causal"}, {"strides", 3}}),
        plain("AveragePooling1D", {{"padding", "same"}}), plain("GlobalAveragePooling1D"),
        dense(3, "softmax")},
       {20, 3}},
      {{sequence(6, 3, {{"groups", 3}, {"padding", "same"}, {"use_bias", false}}),
        plain("BatchNormalization"), plain("ReLU"), plain("MaxPooling1D", {{"strides", 1}}),
        dense(7, "relu"), plain("GaussianNoise", {{"stddev", 0.2}}), plain("Flatten"),
        dense(3, "softmax")},
       {9, 6}},
      {{plain("GaussianNoise", {{"stddev", 0.5}}), dense(8, "tanh"), plain("LayerNormalization"),
        dense(4, "relu", {{"use_bias", false}}), sequence(5, 1, {{"strides", 2}})},
       {7, 4}},
      {{plain("Flatten"), dense(24, "relu"), plain("Reshape", {{"target_shape", {6, 4}}}),
        sequence(8, 3, relu), plain("LayerNormalization", {{"scale", false}})},
       {4, 4, 1}},
      {{plain("DepthwiseConv2D", {{"kernel_size", 3}, {"activation", "relu"}}),
        plain("MaxPooling2D"),
        plain("DepthwiseConv2D",
              {{"kernel_size", 2}, {"strides", 2}, {"padding", "same"}, {"depth_multiplier", 3}})},
       {12, 11, 8}},
      {{plain("SeparableConv2D", {{"filters", 12}, {"kernel_size", 3}, {"activation", "relu"}}),
        plain("LayerNormalization"),
        plain("SeparableConv2D", {{"filters", 16},
                                  {"kernel_size", {3, 2}},
                                  {"padding", "same"},
                                  {"depth_multiplier", 2},
                                  {"trainable", false}}),
        plain("DepthwiseConv2D", {{"kernel_size", 1}, {"strides", 2}}), dense(5, "tanh")},
       {9, 10, 3}},
      {{conv(4, 3, relu), dense(6, "relu"), plain("GaussianNoise", {{"stddev", 0.1}}),
        plain("DepthwiseConv2D", {{"kernel_size", 2}, {"dilation_rate", 2}, {"use_bias", false}})},
       {9, 8, 2}},
  };
  for (const Subject& subject : subjects) {
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
}

TEST(FusedConv, NamesWhatItDoesNotKnow) {
  for (const Json& unknown : {plain("LSTM", {{"units", 3}}), plain("GRU", {{"units", 3}}),
                              plain("SimpleRNN", {{"units", 3}}),
                              plain("Embedding", {{"input_dim", 3}, {"output_dim", 2}})}) {
    const bool table = unknown["class_name"] == "Embedding";
    Json layers = Json::array({unknown});
    if (table) layers.push_back(plain("Flatten"));
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

/// A network that Keras accepts on sequences.
Subject random_sequences(Random& random) {
  Subject subject;
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
        subject.layers.push_back(plain("MaxPooling1D", windows));
        break;
      case 4:
        subject.layers.push_back(plain("AveragePooling1D", windows));
        break;
      case 5:
        subject.layers.push_back(plain(pick(random, {"BatchNormalization", "LayerNormalization"})));
        continue;
      case 6:
        subject.layers.push_back(plain("GaussianNoise", {{"stddev", 0.2}}));
        continue;
      case 7:
        subject.layers.push_back(dense(pick(random, {1, 4, 8}), pick(random, {"relu", "tanh"})));
        continue;
      default:
        same = padding != std::string("valid");
        subject.layers.push_back(plain(
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
Subject random_subject(Random& random, bool by_channel = false) {
  Subject subject;
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
        subject.layers.push_back(plain(
            "MaxPooling2D", {{"pool_size", window}, {"strides", stride}, {"padding", padding}}));
        break;
      case 5:
        subject.layers.push_back(
            plain("AveragePooling2D",
                  {{"pool_size", window}, {"strides", stride}, {"padding", padding}}));
        break;
      case 6:
        subject.layers.push_back(plain("BatchNormalization"));
        continue;
      case 7:
        subject.layers.push_back(below(random, 2) == 0 ? plain("Dropout", {{"rate", 0.3}})
                                                       : plain("ZeroPadding2D"));
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
    const Subject subject = random_subject(random);
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
  for (int i = 0; i < 60; ++i) {
    const Subject subject = i % 2 == 0 ? random_subject(random, true) : random_sequences(random);
    SCOPED_TRACE(subject.layers.dump());
    expect_agreement(subject);
  }
}

/// Values with ties, both zeros, infinities and NaN.
std::vector<float> awkward(Random& random, std::size_t count) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(count);
  for (float& v : values) {
    v = pick(random, {-2.0f, -1.0f, -0.0f, 0.0f, 1.0f, 2.0f, 2.0f, number(random), kNaN, INFINITY,
                      -INFINITY});
  }
  return values;
}

TEST(FusedConv, PoolingIncludesARelu) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t size = 2 + below(random, 7), window = 1 + below(random, 3);
    const Json pooling =
        plain("MaxPooling2D", {{"pool_size", std::min(window, size)},
                               {"strides", 1 + below(random, 3)},
                               {"padding", below(random, 2) == 0 ? "same" : "valid"}});
    const std::int64_t channels = pick(random, {1, 3, 8, 11, 16});
    const program::ResolvedLayer resolved_layer =
        resolved(Json::array({pooling, plain("Flatten"), dense(1, "linear")}),
                 {size, size + 1, channels}, optimizer("SGD", 0.1), "mean_squared_error", {1}, 2)
            .layers.front();
    const Windows windows = sliding_windows(resolved_layer, "pool_size");
    constexpr std::int64_t kRows = 2;
    const auto inputs = static_cast<std::size_t>(kRows * size * (size + 1) * channels);
    const auto outputs =
        static_cast<std::size_t>(kRows * program::element_count(resolved_layer.output_shape));
    const std::vector<float> x = awkward(random, inputs), dy = numbers(random, outputs);
    for (const bool relu : {false, true}) {
      std::vector<float> rectified = x, y(outputs), dx(inputs), expected(outputs), slopes(inputs);
      const auto depth = static_cast<std::size_t>(channels);
      if (relu) {
        for (float& v : rectified) v = v < 0 ? 0 : v;
      }
      max_pool(windows, kRows, channels, rectified.data(), expected.data());
      max_pool_backward(windows, kRows, channels, rectified.data(), dy.data(), slopes.data());
      if (relu) {
        for (std::size_t k = 0; k < inputs; ++k) slopes[k] *= rectified[k] > 0 ? 1.0f : 0.0f;
      }
      std::vector<std::uint16_t> winners(outputs);
      fused::max_pool(windows, kRows, depth, relu, x.data(), y.data(), winners.data());
      fused::max_pool_backward(windows, kRows, depth, winners.data(), dy.data(), dx.data());
      EXPECT_TRUE(same_bits(y, expected)) << pooling << ", relu " << relu;
      EXPECT_TRUE(same_bits(dx, slopes)) << pooling << ", relu " << relu;
      fused::max_pool(windows, kRows, depth, relu, x.data(), y.data(), nullptr);
      EXPECT_TRUE(same_bits(y, expected)) << pooling << ", relu " << relu;
    }
  }
}

TEST(FusedConv, NaNGoesThroughAsInEager) {
  const Subject subject{
      {conv(16, 3, {{"activation", "relu"}}), plain("MaxPooling2D"),
       conv(8, 2, {{"activation", "relu"}}), plain("Flatten"), dense(3, "softmax")},
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
}  // namespace neutra::training
