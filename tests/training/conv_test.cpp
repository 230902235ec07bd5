// Layers on images and sequences. conv_cases.json and layer_cases.json hold what tf.keras computes,
// made by make_conv_cases.py and make_layer_cases.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "layer_tensors.h"
#include "tests/source_file.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/fused/images.h"
#include "training/fused/layers/registry.h"
#include "training/layers/windows.h"

namespace neutra::training::tests {
namespace {

/// The cases "layers" or "trainings" of both files.
const Json& golden(const std::string& part) {
  static const Json documents = [] {
    Json all = Json::object();
    for (const char* name : {"conv_cases.json", "layer_cases.json", "option_cases.json"}) {
      std::ifstream file(source_file("tests/training/data") / name);
      const Json document = Json::parse(file);
      for (const char* key : {"layers", "trainings"}) {
        for (const Json& c : document.at(key)) all[key].push_back(c);
      }
    }
    return all;
  }();
  return documents.at(part);
}

TEST(Conv, LayersAgreeWithKeras) {
  ASSERT_GE(golden("layers").size(), 90u);
  for (const Json& c : golden("layers")) {
    const std::string name = c.at("name");
    const program::Shape input = c.at("input_shape"), output = c.at("output_shape");
    const std::int64_t rows = c.at("rows");
    const program::ResolvedLayer layer = single(c.at("layer"), input);
    ASSERT_EQ(layer.output_shape, output) << name;

    const auto module = make_module(layer);
    std::vector<at::Tensor> weights;
    ASSERT_EQ(layer.weights.size(), c.at("weights").size()) << name;
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      weights.push_back(tensor(c["weights"][k], layer.weights[k].shape));
      weights.back().set_requires_grad(layer.weights[k].trainable);
    }
    at::Tensor x = tensor(c.at("x"), with_rows(rows, input)).set_requires_grad(true);
    const ForwardPass pass{c.at("training").get<bool>(), {}, 0};
    const at::Tensor y = module->forward(x, weights, pass);
    ASSERT_EQ(y.sizes().vec(), with_rows(rows, output)) << name;
    expect_near(y, c.at("y"), 1e-5, name + ": output");

    y.backward(tensor(c.at("dy"), y.sizes().vec()));
    if (c.at("dx").empty()) {
      EXPECT_FALSE(x.grad().defined()) << name;
    } else {
      expect_near(x.grad(), c.at("dx"), 1e-5, name + ": input gradient");
    }
    for (std::size_t k = 0; k < c.at("dweights").size(); ++k) {
      expect_near(weights[k].grad(), c["dweights"][k], 1e-5,
                  name + ": gradient of " + layer.weights[k].name);
    }
    for (std::size_t k = 0; k < c.at("weights_after").size(); ++k) {
      expect_near(weights[k], c["weights_after"][k], 1e-5,
                  name + ": " + layer.weights[k].name + " afterwards");
    }
  }
}

/// The steps of one layer of the fused back end between a batch of images and a batch of outputs,
/// both in Keras's order.
class FusedLayer {
 public:
  FusedLayer(const program::ResolvedProgram& program, Weights& weights, std::size_t rows)
      : rows_(rows) {
    fused::Builder measured(rows, rows, nullptr, nullptr);
    build(program, measured);
    memory_ = Buffer(measured.used());
    fused::Builder builder(rows, rows, &weights, memory_.data());
    build(program, builder);
    steps_ = builder.take_steps();
  }

  std::vector<float> forward(const std::vector<float>& x, bool training) {
    const std::size_t width = fused::kernels().width;
    pass_ = {training, {}, 0, {rows_, (rows_ + width - 1) / width * width}};
    std::copy(x.begin(), x.end(), x_.values);
    for (const auto& step : steps_) step->forward(pass_);
    return {y_.values, y_.values + rows_ * y_.features};
  }
  std::vector<float> backward(const std::vector<float>& dy) {
    std::copy(dy.begin(), dy.end(), y_.gradient);
    for (std::size_t i = steps_.size(); i-- > 0;) steps_[i]->backward(pass_);
    return {x_.gradient, x_.gradient + rows_ * x_.features};
  }

 private:
  void build(const program::ResolvedProgram& program, fused::Builder& builder) {
    const program::ResolvedLayer& layer = program.layers.front();
    x_ = builder.tensor(layer.input_shape, fused::Layout::kRows, true);
    builder.set_current(x_);
    builder.begin_layer(0, layer, true);
    fused::find_layer_steps(layer.class_name)(builder, layer);
    fused::settle_relu(builder);
    y_ = builder.current();
    if (y_.layout == fused::Layout::kColumns) y_ = to_rows(builder);
    builder.provide_scratch();
  }

  std::size_t rows_;
  Buffer memory_;
  fused::Tensor x_, y_;
  std::vector<std::unique_ptr<fused::Step>> steps_;
  fused::Pass pass_;
};

TEST(Conv, FusedLayersAgreeWithKeras) {
  int known = 0;
  for (const Json& c : golden("layers")) {
    const std::string name = c.at("name");
    if (fused::find_layer_steps(c.at("layer").at("class_name")) == nullptr) continue;
    ++known;
    const program::ResolvedProgram program = with_layer(c.at("layer"), c.at("input_shape"));
    const auto rows = c.at("rows").get<std::size_t>();
    const bool normalises = program.layers.front().class_name == "BatchNormalization";
    const bool training = c.at("training").get<bool>() || !normalises;
    Weights weights(program, {1, 2});
    const std::vector<Weights::Variable>& variables = weights.of_layer(0);
    for (std::size_t k = 0; k < variables.size(); ++k) {
      const auto values = c["weights"][k].get<std::vector<float>>();
      std::copy(values.begin(), values.end(), variables[k].extent.of(weights.all()).begin());
    }
    std::optional<FusedLayer> made;
    try {
      made.emplace(program, weights, rows);
    } catch (const fused::NotCovered&) {
      EXPECT_EQ(name, "Conv2DTranspose: same, one cell, stride 2");
      continue;
    }
    FusedLayer& layer = *made;
    const auto near = [&](std::span<const float> actual, const Json& expected,
                          const std::string& what) {
      const at::Tensor values = at::from_blob(const_cast<float*>(actual.data()),
                                              {static_cast<std::int64_t>(actual.size())});
      expect_near(values, expected, 1e-5, name + ": " + what);
    };
    near(layer.forward(c.at("x").get<std::vector<float>>(), training), c.at("y"), "output");
    for (std::size_t k = 0; k < c.at("weights_after").size(); ++k) {
      near(variables[k].extent.of(weights.all()), c["weights_after"][k], "variable afterwards");
    }
    if (!training) continue;  // nothing is differentiated then
    near(layer.backward(c.at("dy").get<std::vector<float>>()), c.at("dx"), "input gradient");
    for (std::size_t k = 0; k < c.at("dweights").size(); ++k) {
      near(variables[k].extent.of(weights.gradients()), c["dweights"][k], "gradient");
    }
  }
  EXPECT_GE(known, 70);
}

TEST(Conv, TrainingAgreesWithKeras) {
  ASSERT_EQ(golden("trainings").size(), 25u);
  for (const Json& c : golden("trainings")) {
    const program::Shape input = c.at("input_shape");
    const std::int64_t rows = c.at("rows"), batch = c.at("batch_size"), epochs = c.at("epochs");
    const program::ResolvedProgram program =
        resolved(c.at("layers"), input, c.at("optimizer"), c.at("loss"), {3}, rows, batch);
    const Array x{with_rows(rows, input), c.at("x").get<std::vector<float>>()};
    const Array y{{rows, 3}, c.at("y").get<std::vector<float>>()};
    const Rows all{&x, &y, 0, rows};
    const bool fused = c.value("fused", true);
    ASSERT_EQ(!fused_refusal(program, all), fused) << c.at("name");
    for (const auto make : {make_eager_engine, make_fused_engine}) {
      if (make == make_fused_engine && !fused) continue;
      const std::unique_ptr<Engine> engine = make(program, all, {1, 2});
      const std::string name = c.at("name").get<std::string>() + ", " + engine->backend();
      for (std::size_t i = 0; i < program.layers.size(); ++i) {
        for (std::size_t k = 0; k < program.layers[i].weights.size(); ++k) {
          const auto values = c.at("weights").at(i).at(k).get<std::vector<float>>();
          ASSERT_EQ(values.size(), variable(*engine, i, k).size());
          std::copy(values.begin(), values.end(), variable(*engine, i, k).begin());
        }
      }
      std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::uint32_t step = 0;
      for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
        for (std::int64_t begin = 0; begin < rows; begin += batch) {
          const std::int64_t count = std::min(batch, rows - begin);
          engine->step({order.data() + begin, static_cast<std::size_t>(count)}, step++, {});
        }
      }
      for (std::size_t i = 0; i < program.layers.size(); ++i) {
        for (std::size_t k = 0; k < program.layers[i].weights.size(); ++k) {
          const auto values = variable(*engine, i, k);
          expect_near(at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}),
                      c.at("weights_after").at(i).at(k), 2e-5,
                      name + ": weights of layer " + std::to_string(i));
        }
      }
      double loss = engine->weights().penalty();
      const auto output = c.at("output").get<std::vector<double>>();
      for (std::size_t i = 0; i < output.size(); ++i) {
        loss -= static_cast<double>(y.values[i]) * std::log(output[i]) / static_cast<double>(rows);
      }
      EXPECT_NEAR(engine->evaluate(all, {}, 32), loss, 2e-5) << name;
    }
  }
}

/// Windows of 2 over images of 2 by 2 with one channel.
const Windows kOneWindow{{2, 1, 2, 2}, {2, 1, 2, 2}};
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Conv, MaximumIgnoresNaNAndItsGradientGoesToOneCell) {
  // Values as seen in TensorFlow 2.4.0.
  const struct {
    float x[4];
    float y;
    int winner;
  } cases[] = {
      {{1, 3, 3, 2}, 3, 1},
      {{kNaN, 3, 4, 2}, 4, 0},
      {{1, kNaN, 4, 2}, 4, 2},
      {{kNaN, kNaN, kNaN, kNaN}, std::numeric_limits<float>::lowest(), 0},
      {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}, std::numeric_limits<float>::lowest(), 0}};
  for (const auto& c : cases) {
    float y = 0, dx[4];
    const float dy = 5;
    max_pool(kOneWindow, 1, 1, c.x, &y);
    EXPECT_EQ(y, c.y);
    max_pool_backward(kOneWindow, 1, 1, c.x, &dy, dx);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(dx[i], i == c.winner ? dy : 0) << i;

    std::uint16_t winner = 0;
    fused::max_pool(kOneWindow, 1, 1, false, c.x, &y, &winner);
    EXPECT_EQ(y, c.y);
    fused::max_pool_backward(kOneWindow, 1, 1, &winner, &dy, dx);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(dx[i], i == c.winner ? dy : 0) << "fused, " << i;
  }
}

TEST(Conv, GlobalMaximumSharesTheGradientOfTies) {
  const program::ResolvedLayer pooling =
      single(layer("GlobalMaxPooling2D", Json::object()), {2, 2, 1});
  at::Tensor x = tensor({1, 4, 4, 2}, {1, 2, 2, 1}).set_requires_grad(true);
  make_module(pooling)->forward(x, {}, {}).sum().backward();
  expect_near(x.grad(), {0, 0.5, 0.5, 0}, 0, "gradient");
}

TEST(Conv, SamePaddingPutsTheOddCellAtTheEnd) {
  for (std::int64_t input = 1; input <= 9; ++input) {
    for (std::int64_t window = 1; window <= 5; ++window) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        const Json pooling = layer(
            "MaxPooling2D", {{"pool_size", window}, {"strides", stride}, {"padding", "same"}});
        const WindowAxis axis =
            sliding_windows(single(pooling, {input, input, 1}), "pool_size").height;
        ASSERT_EQ(axis.output, (input + stride - 1) / stride);
        ASSERT_TRUE(axis.after == axis.before || axis.after == axis.before + 1);
        for (std::int64_t i = 0; i < axis.output; ++i) ASSERT_LT(axis.begin(i), axis.end(i));
        if (axis.after > 0) {
          ASSERT_EQ((axis.output - 1) * stride + window, input + axis.before + axis.after);
        }
      }
    }
  }
}

}  // namespace
}  // namespace neutra::training::tests
