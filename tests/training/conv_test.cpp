#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "image_programs.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/fused/images.h"
#include "training/fused/layers/registry.h"
#include "training/layers/module.h"
#include "training/layers/windows.h"
#include "training/local_trainer.h"

/// Layers on images and sequences. conv_cases.json and layer_cases.json hold what tf.keras
/// computes, made by make_conv_cases.py and make_layer_cases.py.
namespace neutra::training {
namespace {

/// The cases "layers" or "trainings" of both files.
const Json& golden(const std::string& part) {
  static const Json documents = [] {
    Json all = Json::object();
    for (const char* name : {"/conv_cases.json", "/layer_cases.json", "/option_cases.json"}) {
      std::ifstream file(std::string(NEUTRA_TEST_DATA) + name);
      const Json document = Json::parse(file);
      for (const char* key : {"layers", "trainings"}) {
        for (const Json& c : document.at(key)) all[key].push_back(c);
      }
    }
    return all;
  }();
  return documents.at(part);
}

at::Tensor tensor(const Json& values, const std::vector<std::int64_t>& extents) {
  auto floats = values.get<std::vector<float>>();
  return at::from_blob(floats.data(), extents, at::kFloat).clone();
}

void expect_near(const at::Tensor& actual, const Json& expected, double tolerance,
                 const std::string& what) {
  const at::Tensor flat = actual.detach().contiguous().view(-1);
  ASSERT_EQ(flat.numel(), static_cast<std::int64_t>(expected.size())) << what;
  const float* values = flat.data_ptr<float>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double wanted = expected[i];
    ASSERT_NEAR(values[i], wanted, tolerance * std::max(1.0, std::abs(wanted)))
        << what << ", element " << i;
  }
}

/// A program whose first layer is tested; the Dense layer behind it makes a program of it.
program::ResolvedProgram with_layer(const Json& tested, const program::Shape& input) {
  return resolved(Json::array({tested, layer("Flatten", Json::object()), dense(1, "linear")}),
                  input, optimizer("SGD", 0.1), "mean_squared_error", {1}, 2);
}
program::ResolvedLayer single(const Json& tested, const program::Shape& input) {
  return with_layer(tested, input).layers.front();
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

/// A network with every layer on images, on random images of 8 by 7 with two channels.
class ImageNetwork : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("neutra_conv_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    constexpr std::uint64_t kRows = 90, kRow = 8 * 7 * 2;
    std::vector<float> x(kRows * kRow), y(kRows);
    fill_uniform({{3, 4}, Stream::kNoise, 0, 0}, -1, 1, x);
    for (std::size_t i = 0; i < kRows; ++i) y[i] = x[i * kRow] > 0 ? 1.0f : 0.0f;
    Hdf5File file = Hdf5File::create(folder_ / "images.h5");
    file.write("/x", x, {kRows, 8, 7, 2});
    file.write("/y", y, {kRows});
    file.close();
    program_ = program_of(
        "moons", 2,
        Json::array(
            {layer("Conv2D", {{"filters", 8},
                              {"kernel_size", 3},
                              {"padding", "same"},
                              {"strides", 2},
                              {"activation", "relu"},
                              {"kernel_initializer", "he_normal"}}),
             layer("BatchNormalization", Json::object()), layer("ZeroPadding2D", {{"padding", 1}}),
             layer("Conv2D", {{"filters", 4}, {"kernel_size", {3, 2}}}),
             layer("MaxPooling2D", {{"padding", "same"}}), layer("Dropout", {{"rate", 0.25}}),
             layer("AveragePooling2D", {{"pool_size", 2}, {"strides", 1}}),
             layer("Flatten", Json::object()), dense(1, "sigmoid")}),
        "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), 8);
    program_.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = {nullptr, 8,
                                                                                        7, 2};
    program_.document["data"]["source"] = "hdf5";
    program_.document["data"]["arguments"] = {{"file", "images.h5"}};
    if (GetParam() == Backend::kEager) {  // which alone knows them
      program_.document["model"]["config"]["layers"][3]["config"]["activity_regularizer"] = {
          {"class_name", "L2"}, {"config", {{"l2", 0.01}}}};
    }
    TrainerOptions options = trained_by(GetParam());
    options.data_path = {folder_};
    trainer_ = make_local_trainer(options);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  struct Recorder final : Observer {
    BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
      return BatchDetail::kActivations;
    }
    void batch_end(const BatchEvent& event) override {
      last.clear();
      losses.push_back(event.loss);
      for (const LayerView& view : event.layers) {
        activations.push_back(view.activations.size() / static_cast<std::size_t>(event.rows));
        for (const auto& w : view.weights) last.insert(last.end(), w.begin(), w.end());
      }
      if (event.step == 0) {
        first.assign(event.layers[0].weights[0].begin(), event.layers[0].weights[0].end());
      }
    }
    std::vector<double> losses;
    std::vector<std::size_t> activations;
    std::vector<float> last, first;
  };
  std::vector<float> trained(int replica) {
    Recorder seen;
    TrainingJob job;
    job.program = &program_;
    job.replica = replica;
    const ReplicaResult result = trainer_->train(job, &seen);
    EXPECT_EQ(result.status, RunStatus::kOk) << result.message;
    return seen.last;
  }

  std::filesystem::path folder_;
  program::Program program_;
  std::unique_ptr<LocalTrainer> trainer_;
};

TEST_P(ImageNetwork, PredictsFromALayerOnWithThatLayersInputs) {
  const auto whole = trainer_->predictor(program_, DataPart::kTest, {});
  Weights& weights = whole->weights();
  fill_uniform({{5, 6}, Stream::kNoise, 0, 0}, 0.1f, 0.4f, weights.all());
  const std::int64_t count = whole->rows();
  ASSERT_LE(count, whole->max_rows());
  const auto copy = [](std::span<const float> values) {
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> outputs = copy(whole->outputs(0, count));
  std::vector<std::vector<float>> activations;
  for (const auto values : whole->activations()) activations.push_back(copy(values));
  const program::ResolvedProgram resolved = trainer_->resolved(program_);
  for (std::size_t first = 1; first < resolved.layers.size(); ++first) {
    Array inputs{resolved.layers[first].input_shape, activations[first - 1]};
    inputs.extents.insert(inputs.extents.begin(), count);
    const auto rest = trainer_->predictor(program_, first, inputs);
    Weights& own = rest->weights();
    for (std::size_t i = first; i < resolved.layers.size(); ++i) {
      for (std::size_t k = 0; k < weights.of_layer(i).size(); ++k) {
        const std::span<const float> from = weights.of_layer(i)[k].extent.of(weights.all());
        std::copy(from.begin(), from.end(),
                  own.of_layer(i - first)[k].extent.of(own.all()).begin());
      }
    }
    const std::vector<float> again = copy(rest->outputs(0, count));
    ASSERT_EQ(again.size(), outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_NEAR(again[i], outputs[i], 1e-5);
  }
}

TEST_P(ImageNetwork, LearnsAndIsObserved) {
  Recorder seen;
  TrainingJob job;
  job.program = &program_;
  const ReplicaResult result = trainer_->train(job, &seen);
  EXPECT_EQ(result.status, RunStatus::kOk) << result.message;
  EXPECT_LT(seen.losses.back(), seen.losses.front());
  const std::vector<std::size_t> sizes{4 * 4 * 8, 4 * 4 * 8, 6 * 6 * 8, 4 * 5 * 4, 2 * 3 * 4,
                                       2 * 3 * 4, 1 * 2 * 4, 8,         1};
  ASSERT_GE(seen.activations.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(seen.activations[i], sizes[i]) << i;
  // he_normal: fan in is the receptive field times the input channels; one step moves each weight
  // by at most the rate.
  const Statistics s = statistics(seen.first);
  EXPECT_EQ(s.count, 3u * 3 * 2 * 8);
  EXPECT_NEAR(s.stddev, std::sqrt(2.0 / (3 * 3 * 2)), 0.06);
}

TEST_P(ImageNetwork, BitwiseEqualWithOneAndTwoWorkers) {
  const std::vector<float> first = trained(0), second = trained(1);
  ASSERT_FALSE(first.empty());
  EXPECT_NE(first, second);
  std::vector<std::vector<float>> together(4);
  std::vector<std::thread> workers;
  for (int t = 0; t < 2; ++t) {
    workers.emplace_back([&, t] {
      together[static_cast<std::size_t>(t)] = trained(t);
      together[static_cast<std::size_t>(t + 2)] = trained(1 - t);
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(together[0], first);
  EXPECT_EQ(together[1], second);
  EXPECT_EQ(together[2], second);
  EXPECT_EQ(together[3], first);
}

TEST_P(ImageNetwork, MemoryIsKnownBeforeTheStart) {
  program_.document["model"]["config"]["layers"][3]["config"]["filters"] = 4096;
  TrainingJob job;
  job.program = &program_;
  job.memory_limit = 8 << 20;
  const ReplicaResult result = trainer_->train(job);
  EXPECT_EQ(result.status, RunStatus::kOutOfMemory);
  EXPECT_EQ(result.steps, 0);
}

INSTANTIATE_TEST_SUITE_P(BackEnds, ImageNetwork,
                         ::testing::Values(Backend::kEager, Backend::kFused),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace neutra::training
