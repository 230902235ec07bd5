#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "image_programs.h"
#include "program/layer.h"
#include "tests/source_file.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/layers/module.h"
#include "training/losses.h"
#include "training/metrics.h"
#include "training/model.h"

/// Masks of steps, wrappers, and layers that move steps. mask_cases.json holds what tf.keras
/// computes, made by make_mask_cases.py.
namespace neutra::training {
namespace {

const Json& cases() {
  static const Json all = [] {
    std::ifstream file(source_file("tests/training/data/mask_cases.json"));
    return Json::parse(file).at("cases");
  }();
  return all;
}

program::ResolvedProgram resolved_case(const Json& json) {
  const std::string loss = json.at("loss");
  program::Program made =
      program_of("moons", 2, json.at("layers"), loss,
                 loss == "mean_squared_error" ? "mae" : "accuracy", optimizer("SGD", 0.1));
  made.document["model"]["config"]["layers"][0]["config"].erase("batch_input_shape");
  program::DataInfo data;
  data.x = json.at("input_shape").get<program::Shape>();
  data.y = json.at("target_shape").get<program::Shape>();
  data.training_rows = json.at("rows");
  data.y_max = 1;
  program::require_valid(made.document, json.at("name"), &data);
  return program::resolve(made, &data);
}

/// One of them as a program with its rows.
struct Case {
  explicit Case(const Json& json)
      : name(json.at("name")),
        rows(json.at("rows")),
        program(resolved_case(json)),
        x{with_rows(rows, json.at("input_shape")), json.at("x").get<std::vector<float>>()},
        y{with_rows(rows, json.at("target_shape")), json.at("y").get<std::vector<float>>()} {}

  std::string name;
  std::int64_t rows;
  program::ResolvedProgram program;
  Array x, y;
};

void set_weights(Weights& weights, const Json& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(weights.of_layer(i).size(), values[i].size());
    for (std::size_t k = 0; k < values[i].size(); ++k) {
      const auto stored = values[i][k].get<std::vector<float>>();
      const std::span<float> place = weights.of_layer(i)[k].extent.of(weights.all());
      ASSERT_EQ(place.size(), stored.size()) << "layer " << i;
      std::copy(stored.begin(), stored.end(), place.begin());
    }
  }
}

at::Tensor tensor(const Array& array) {
  return at::from_blob(const_cast<float*>(array.values.data()), array.extents, at::kFloat).clone();
}

void expect_near(std::span<const float> actual, const Json& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double wanted = expected[i];
    ASSERT_NEAR(actual[i], wanted, tolerance * std::max(1.0, std::abs(wanted)))
        << what << ", element " << i;
  }
}

std::span<const float> values(const at::Tensor& t) {
  return {t.data_ptr<float>(), static_cast<std::size_t>(t.numel())};
}

TEST(Masks, NetworksAgreeWithKeras) {
  ASSERT_EQ(cases().size(), 18u);
  for (const Json& json : cases()) {
    const Case c(json);
    Weights weights(c.program, {1, 2});
    set_weights(weights, json.at("weights"));
    Model model(c.program, weights);
    const Model::Result result = model.forward(tensor(c.x), {});
    const at::Tensor output = model.output(result.raw);
    expect_near(values(output.detach().contiguous()), json.at("output"), 1e-5, c.name + ": output");

    ASSERT_EQ(result.mask.defined(), !json.at("mask").empty()) << c.name;
    ASSERT_EQ(program::masked_outputs(c.program.layers).back(), result.mask.defined()) << c.name;
    if (result.mask.defined()) {
      expect_near(values(result.mask.to(at::kFloat).contiguous()), json.at("mask"), 0,
                  c.name + ": mask");
    }

    const Loss loss(c.program.loss, model.output_activation());
    const at::Tensor source = loss.on_logits() ? result.raw : output;
    const at::Tensor weight = result.mask.defined() ? result.mask.to(at::kFloat) : at::Tensor();
    const at::Tensor mean = loss.mean(source, tensor(c.y), weight);
    EXPECT_NEAR(mean.item<double>(), json.at("value").get<double>(), 1e-5) << c.name;
    const auto gradient = loss.gradient(source, tensor(c.y), weight);
    if (gradient) {
      source.backward(*gradient);
    } else {
      mean.backward();
    }
    for (std::size_t i = 0; i < c.program.layers.size(); ++i) {
      for (std::size_t k = 0; k < json.at("gradients")[i].size(); ++k) {
        const Json& wanted = json["gradients"][i][k];
        if (wanted.empty()) continue;  // a statistic
        expect_near(weights.of_layer(i)[k].extent.of(weights.gradients()), wanted, 2e-5,
                    c.name + ": gradient of " + c.program.layers[i].weights[k].name + " of layer " +
                        std::to_string(i));
      }
    }
  }
}

/// The one with that name.
const Json& find_case(const std::string& name) {
  for (const Json& json : cases()) {
    if (json.at("name") == name) return json;
  }
  throw input_error("no case " + name);
}

TEST(Masks, LossAndMetricsLeaveStepsOutThatDontCount) {
  const Json& json = find_case("tags of words, as labels");
  Json layers = json;
  layers["layers"].erase(2);  // without the dropout, training computes what inference does
  layers["weights"].erase(2);
  const Case c(layers);
  const Rows all{&c.x, &c.y, 0, c.rows};
  EXPECT_TRUE(fused_refusal(c.program, all));
  const std::unique_ptr<Engine> engine = make_eager_engine(c.program, all, {1, 2});
  set_weights(engine->weights(), layers.at("weights"));
  std::vector<std::int64_t> order(static_cast<std::size_t>(c.rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const double value = json.at("value");
  EXPECT_NEAR(engine->gradients(order, 0, {true, true, false}), value, 1e-5);
  EXPECT_EQ(engine->output().counts.size(), json.at("mask").size());
  EXPECT_NEAR(engine->look(order), value, 1e-5);

  // The share of the steps that count whose largest output is the label's.
  const auto outputs = json.at("output").get<std::vector<float>>();
  const std::size_t classes = outputs.size() / json.at("mask").size();
  int right = 0, counting = 0;
  for (std::size_t i = 0; i < json["mask"].size(); ++i) {
    if (json["mask"][i] == 0) continue;
    ++counting;
    const std::span<const float> step(outputs.data() + i * classes, classes);
    right += static_cast<float>(argmax(step)) == c.y.values[i] ? 1 : 0;
  }
  ASSERT_LT(counting, static_cast<int>(json["mask"].size()));
  Metric accuracy("accuracy");
  const double loss = engine->evaluate(
      all, [&](const Batch& output, const Batch& target) { accuracy.add(output, target); }, 32);
  EXPECT_NEAR(loss, value, 1e-5);
  EXPECT_EQ(accuracy.total(), counting);
  EXPECT_EQ(accuracy.correct(), right);
}

/// What a layer makes of ones in training.
at::Tensor of_ones(const Json& tested, const program::Shape& input, std::uint32_t step) {
  const program::ResolvedProgram program =
      resolved(Json::array({tested, layer("Flatten", Json::object()), dense(1, "linear")}), input,
               optimizer("SGD", 0.1), "mean_squared_error", {1}, 2);
  ForwardPass pass{true, {3, 4}, step};
  return make_module(program.layers.front())->forward(at::ones(with_rows(40, input)), {}, pass);
}

TEST(Dropouts, SpatialOnesDropWholeChannels) {
  for (const auto& [name, shape] :
       {std::pair<std::string, program::Shape>{"SpatialDropout1D", {5, 30}},
        {"SpatialDropout2D", {3, 4, 30}}}) {
    const at::Tensor y = of_ones(layer(name, {{"rate", 0.25}}), shape, 0);
    const at::Tensor channels = y.reshape({40, -1, 30});
    EXPECT_TRUE(at::equal(channels.amax(1), channels.amin(1))) << name;
    EXPECT_NEAR(channels.select(1, 0).gt(0).to(at::kFloat).mean().item<double>(), 0.75, 0.04);
    EXPECT_NEAR(y.max().item<double>(), 4.0 / 3, 1e-6);
    EXPECT_FALSE(at::equal(y, of_ones(layer(name, {{"rate", 0.25}}), shape, 1))) << name;
  }
}

TEST(Dropouts, GaussianOneHasItsMeanAndVariance) {
  const at::Tensor y = of_ones(layer("GaussianDropout", {{"rate", 0.2}}), {500}, 0);
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.02);
  EXPECT_NEAR(y.std().item<double>(), 0.5, 0.02);  // sqrt(rate / (1 - rate))
}

TEST(Dropouts, BothBackEndsDrawTheSame) {
  const Json dropped =
      Json::array({layer("Conv2D", {{"filters", 3}, {"kernel_size", 2}}),
                   layer("SpatialDropout2D", {{"rate", 0.4}}), layer("Flatten", Json::object()),
                   layer("GaussianDropout", {{"rate", 0.3}}), dense(5, "tanh"),
                   layer("GaussianDropout", {{"rate", 0.2}}), dense(2, "linear")});
  const Json steps = Json::array({layer("Conv1D", {{"filters", 3}, {"kernel_size", 2}}),
                                  layer("SpatialDropout1D", {{"rate", 0.4}}),
                                  layer("Flatten", Json::object()), dense(2, "linear")});
  for (const auto& [layers, shape] :
       {std::pair<Json, program::Shape>{dropped, {4, 5, 2}}, {steps, {6, 2}}}) {
    const std::int64_t rows = 7;
    const program::ResolvedProgram program =
        resolved(layers, shape, optimizer("SGD", 0.1), "mean_squared_error", {2}, rows, 4);
    Array x{with_rows(rows, shape), {}}, y{{rows, 2}, {}};
    x.values.resize(static_cast<std::size_t>(rows * program::element_count(shape)));
    for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = std::sin(static_cast<float>(i));
    for (int i = 0; i < 2 * rows; ++i) y.values.push_back(std::cos(static_cast<float>(i)));
    const Rows all{&x, &y, 0, rows};
    ASSERT_EQ(fused_refusal(program, all), std::nullopt);
    const auto eager = make_eager_engine(program, all, {1, 2});
    const auto fused = make_fused_engine(program, all, {1, 2});
    const std::vector<std::int64_t> batches[] = {{0, 1, 2, 3}, {4, 5, 6}};
    std::uint32_t step = 0;
    for (const auto& batch : batches) {
      EXPECT_NEAR(eager->step(batch, step, {true, false, false}),
                  fused->step(batch, step, {true, false, false}), 1e-5);
      ++step;
    }
    const std::span<float> a = eager->weights().all(), b = fused->weights().all();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5);
  }
}

}  // namespace
}  // namespace neutra::training
