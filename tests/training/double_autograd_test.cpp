#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "image_programs.h"
#include "program/layer.h"
#include "training/fused/engine.h"
#include "training/torch.h"

/// Gradients of the steps that oneDNN computes (convolutions, pooling, large products) against
/// LibTorch's autograd in double precision, with formulas written out here: nothing is shared with
/// the eager back end.
namespace neutra::training {
namespace {

at::Tensor in_double(std::span<const float> values, const program::Shape& shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).to(at::kDouble);
}

/// "same" padding as TensorFlow has it: the odd cell goes behind.
at::Tensor padded(const at::Tensor& x, const std::vector<std::int64_t>& window,
                  const std::vector<std::int64_t>& strides, double value) {
  std::vector<std::int64_t> pads;  // last extent first
  for (const int axis : {1, 0}) {
    const std::int64_t n = x.size(2 + axis), k = window[static_cast<std::size_t>(axis)],
                       s = strides[static_cast<std::size_t>(axis)];
    const std::int64_t whole = std::max<std::int64_t>(0, ((n + s - 1) / s - 1) * s + k - n);
    pads.push_back(whole / 2);
    pads.push_back(whole - whole / 2);
  }
  return at::constant_pad_nd(x, pads, value);
}

at::Tensor activated(const at::Tensor& x, const Json& config) {
  const std::string name = config.value("activation", "linear");
  if (name == "relu") return at::relu(x);
  if (name == "tanh") return at::tanh(x);
  EXPECT_EQ(name, "linear");
  return x;
}

/// Layers on channels-first images in double precision. `weights` by layer and variable.
at::Tensor forward(const program::ResolvedProgram& program, at::Tensor x,
                   const std::vector<std::vector<at::Tensor>>& weights) {
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    const Json& config = layer.config;
    const auto pair = [&](const char* name) {
      // Strides of a pooling are its window unless given.
      const Json& value = config.at(name).is_null() ? config.at("pool_size") : config.at(name);
      return value.get<std::vector<std::int64_t>>();
    };
    const bool same = config.value("padding", "valid") == "same";
    if (layer.class_name == "Conv2D") {
      const at::Tensor kernel = weights[i][0].permute({3, 2, 0, 1});
      if (same) x = padded(x, pair("kernel_size"), pair("strides"), 0);
      x = activated(at::conv2d(x, kernel, weights[i][1], pair("strides")), config);
    } else if (layer.class_name == "MaxPooling2D") {
      if (same) x = padded(x, pair("pool_size"), pair("strides"), -1e300);
      x = at::max_pool2d(x, pair("pool_size"), pair("strides"));
    } else if (layer.class_name == "AveragePooling2D") {
      x = at::avg_pool2d(x, pair("pool_size"), pair("strides"));
    } else if (layer.class_name == "Flatten") {
      x = x.permute({0, 2, 3, 1}).flatten(1);
    } else if (layer.class_name == "Dense") {
      x = activated(at::matmul(x, weights[i][0]) + weights[i][1], config);
    } else {
      ADD_FAILURE() << layer.class_name;
    }
  }
  return x;
}

struct Case {
  const char* name;
  Json layers;
  program::Shape input;
  double tolerance;  ///< of a gradient's norm
};

Json conv(int filters, Json kernel, Json more = Json::object()) {
  Json config = {{"filters", filters}, {"kernel_size", std::move(kernel)}};
  config.update(more);
  return layer("Conv2D", std::move(config));
}

constexpr double kExact = 1e-5;
constexpr double kWinograd = 1e-4;  ///< 3 x 3 convolutions by minimal filtering

std::vector<Case> cases() {
  const Json flatten = layer("Flatten", Json::object());
  const Json relu = {{"activation", "relu"}};
  const auto pool = [](const char* class_name, Json config) {
    return layer(class_name, std::move(config));
  };
  return {
      {"Winograd",
       Json::array({conv(32, {3, 3}, relu), conv(64, {3, 3}, relu),
                    pool("MaxPooling2D", {{"pool_size", {2, 2}}}), flatten, dense(3, "linear")}),
       {14, 14, 3},
       kWinograd},
      {"WinogradSame",
       Json::array({conv(16, {3, 3}, {{"padding", "same"}, {"activation", "tanh"}}),
                    conv(16, {3, 3}, {{"padding", "same"}}), flatten, dense(3, "linear")}),
       {11, 13, 16},
       kWinograd},
      {"Strided",
       Json::array({conv(20, {5, 5}, {{"strides", {2, 2}}, {"activation", "tanh"}}),
                    conv(24, {3, 2}, {{"strides", {2, 1}}, {"padding", "same"}}), flatten,
                    dense(3, "linear")}),
       {17, 15, 3},
       kExact},
      {"EvenKernel",
       Json::array({conv(33, {2, 2}, {{"padding", "same"}, {"activation", "relu"}}),
                    pool("MaxPooling2D", {{"pool_size", {2, 2}}, {"padding", "same"}}),
                    conv(17, {4, 4}, {{"activation", "tanh"}}), flatten, dense(3, "linear")}),
       {13, 13, 5},
       kExact},
      {"OneByOne",
       Json::array({conv(40, {1, 1}, relu), conv(8, {1, 1}),
                    pool("AveragePooling2D", {{"pool_size", {3, 3}}, {"strides", {2, 2}}}), flatten,
                    dense(3, "linear")}),
       {9, 9, 7},
       kExact},
      // Above the size from which products are oneDNN's.
      {"LargeDense",
       Json::array({flatten, dense(256, "tanh"), dense(192, "relu"), dense(3, "linear")}),
       {12, 12, 2},
       kExact},
  };
}

class DoubleAutograd : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Steps, DoubleAutograd, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(DoubleAutograd, GradientsAgree) {
  constexpr std::int64_t kRows = 32;
  const Case& subject = GetParam();
  const program::ResolvedProgram program = resolved(
      subject.layers, subject.input, optimizer("SGD", 0.01), "mean_squared_error", {3}, kRows);
  std::mt19937 random(7);
  const auto number = [&] { return static_cast<float>(random() >> 8) * 0x1p-23f - 1; };
  Array x{with_rows(kRows, subject.input), {}}, y{{kRows, 3}, {}};
  x.values.resize(static_cast<std::size_t>(kRows * program::element_count(subject.input)));
  y.values.resize(static_cast<std::size_t>(kRows * 3));
  std::generate(x.values.begin(), x.values.end(), number);
  std::generate(y.values.begin(), y.values.end(), number);
  const Rows all{&x, &y, 0, kRows};
  ASSERT_EQ(fused_refusal(program, all), std::nullopt);
  const auto engine = make_fused_engine(program, all, {7, 5});
  std::vector<std::int64_t> rows(static_cast<std::size_t>(kRows));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    if (program.layers[i].weights.size() < 2) continue;
    for (float& b : variable(*engine, i, 1)) b = 0.1f * number();
  }
  const double loss = engine->gradients(rows, 0, {true, true, true});

  std::vector<std::vector<at::Tensor>> weights(program.layers.size());
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    for (std::size_t k = 0; k < program.layers[i].weights.size(); ++k) {
      weights[i].push_back(in_double(variable(*engine, i, k), program.layers[i].weights[k].shape)
                               .requires_grad_(true));
    }
  }
  const at::Tensor images = in_double(x.values, x.extents).permute({0, 3, 1, 2}).contiguous();
  const at::Tensor expected =
      (forward(program, images, weights) - in_double(y.values, y.extents)).square().mean();
  expected.backward();
  EXPECT_NEAR(loss, expected.item<double>(), 1e-5 * expected.item<double>());
  int compared = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t k = 0; k < weights[i].size(); ++k, ++compared) {
      const Extent& extent = engine->weights().of_layer(i).at(k).extent;
      const at::Tensor exact = weights[i][k].grad();
      const at::Tensor ours =
          in_double(extent.of(engine->weights().gradients()), program.layers[i].weights[k].shape);
      const double norm = exact.norm().item<double>();
      ASSERT_GT(norm, 1e-6);
      EXPECT_LE((ours - exact).norm().item<double>() / norm, subject.tolerance)
          << "layer " << i << ", variable " << k;
    }
  }
  EXPECT_GE(compared, 4);
}

}  // namespace
}  // namespace neutra::training
