#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "image_programs.h"
#include "tests/source_file.h"
#include "training/constraints.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/local_trainer.h"
#include "training/losses.h"
#include "training/metrics.h"

/// Constraints, class weights, losses of logits and smoothed labels. option_cases.json holds what
/// tf.keras computes, made by make_option_cases.py; conv_test.cpp has its layers.
namespace neutra::training {
namespace {

const Json& fits() {
  static const Json cases = [] {
    std::ifstream file(source_file("tests/training/data/option_cases.json"));
    return Json::parse(file).at("fits");
  }();
  return cases;
}

/// What a case trains.
struct Case {
  program::ResolvedProgram program;
  Array x, y;
  Rows rows;

  explicit Case(const Json& c) {
    const program::Shape input = c.at("input_shape"), target = c.at("target_shape");
    const std::int64_t count = c.at("rows");
    program::Program p = program_of("moons", 2, c.at("layers"), "mse", "loss", c.at("optimizer"));
    Json& document = p.document;
    document["compile"]["loss"] = c.at("loss");
    document["compile"]["logits"] = "any";  // as TensorFlow 2.15
    document["fit"]["class_weight"] = c.at("class_weight");
    document["fit"]["batch_size"] = c.at("batch_size");
    Json& first = document["model"]["config"]["layers"][0]["config"];
    first["batch_input_shape"] = Json::array({nullptr});
    for (const std::int64_t extent : input) first["batch_input_shape"].push_back(extent);
    x = {with_rows(count, input), c.at("x").get<std::vector<float>>()};
    y = {with_rows(count, target), c.at("y").get<std::vector<float>>()};
    program::DataInfo data;
    data.x = input;
    data.y = target;
    data.training_rows = count;
    const auto [low, high] = std::minmax_element(y.values.begin(), y.values.end());
    data.y_min = *low;
    data.y_max = *high;
    program::require_valid(document, c.at("name"), &data);
    program = program::resolve(p, &data);
    rows = {&x, &y, 0, count};
  }
};

void set_weights(Engine& engine, const program::ResolvedProgram& program, const Json& values) {
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    for (std::size_t k = 0; k < program.layers[i].weights.size(); ++k) {
      const auto floats = values.at(i).at(k).get<std::vector<float>>();
      ASSERT_EQ(floats.size(), variable(engine, i, k).size());
      std::copy(floats.begin(), floats.end(), variable(engine, i, k).begin());
    }
  }
}

TEST(Options, TrainingAgreesWithKeras) {
  ASSERT_EQ(fits().size(), 24u);
  for (const Json& c : fits()) {
    const Case made(c);
    const program::ResolvedProgram& program = made.program;
    EXPECT_EQ(fused_refusal(program, made.rows), std::nullopt) << c.at("name");
    for (const auto make : {make_eager_engine, make_fused_engine}) {
      const std::unique_ptr<Engine> engine = make(program, made.rows, {1, 2});
      const std::string name = c.at("name").get<std::string>() + ", " + engine->backend();
      set_weights(*engine, program, c.at("weights"));
      std::vector<std::int64_t> order(made.x.extents[0]);
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::uint32_t step = 0;
      for (std::size_t epoch = 0; epoch < c.at("losses").size(); ++epoch) {
        double loss = 0;
        for (std::size_t begin = 0; begin < order.size(); begin += 4) {
          const std::size_t count = std::min<std::size_t>(4, order.size() - begin);
          loss += engine->step({order.data() + begin, count}, step++, {true, true}) *
                  static_cast<double>(count);
        }
        EXPECT_NEAR(loss / static_cast<double>(order.size()), c["losses"][epoch].get<double>(),
                    2e-5)
            << name << ", epoch " << epoch;
      }
      for (std::size_t i = 0; i < program.layers.size(); ++i) {
        for (std::size_t k = 0; k < program.layers[i].weights.size(); ++k) {
          const auto values = variable(*engine, i, k);
          const Json& expected = c.at("weights_after").at(i).at(k);
          for (std::size_t n = 0; n < values.size(); ++n) {
            ASSERT_NEAR(values[n], expected[n].get<double>(), 3e-5)
                << name << ": weight " << k << " of layer " << i;
          }
        }
      }
      // Metrics see the outputs and targets themselves: no logits, no smoothed labels, no weights.
      std::vector<Metric> metrics;
      for (const Json& metric : c.at("metrics")) metrics.emplace_back(metric.get<std::string>());
      const auto listen = [&](const Batch& outputs, const Batch& targets) {
        for (Metric& metric : metrics) metric.add(outputs, targets);
      };
      const Json& expected = c.at("evaluation");
      EXPECT_NEAR(engine->evaluate(made.rows, listen, 32), expected[0].get<double>(), 3e-5) << name;
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        EXPECT_NEAR(metrics[m].value(), expected[m + 1].get<double>(), 3e-5) << name;
      }
    }
  }
}

TEST(Options, MetricsOfLogitsAreTheLossThere) {
  for (const Json& c : fits()) {
    if (!c.at("loss").is_object() || !c["loss"]["config"].value("from_logits", false)) continue;
    if (c["loss"]["config"].contains("label_smoothing") || c.at("metrics").empty()) continue;
    const Case made(c);
    const auto engine = make_eager_engine(made.program, made.rows, {1, 2});
    set_weights(*engine, made.program, c.at("weights_after"));
    Metric metric(made.program.loss + "(from_logits=true)");
    const double loss = engine->evaluate(
        made.rows, [&](const Batch& o, const Batch& t) { metric.add(o, t); }, 32);
    EXPECT_NEAR(metric.value(), loss, 1e-5) << c.at("name");
  }
}

TEST(Options, GradientsOfWeightedLossesAreThoseOfTheirValues) {
  const at::Tensor y = at::eye(3).repeat({2, 1}) * 0.7 + 0.1,
                   weights = at::arange(1, 7).to(at::kFloat);
  const at::Tensor labels = at::arange(6).remainder(3).to(at::kFloat).unsqueeze(-1);
  for (const std::string& name : loss_names()) {
    for (const char* activation : {"linear", "softmax", "sigmoid"}) {
      const bool sparse = name == "sparse_categorical_crossentropy";
      const bool smooths = name == "binary_crossentropy" || name == "categorical_crossentropy";
      const Loss loss(name, activation, {smooths || sparse, smooths ? 0.2 : 0.0});
      at::Tensor o = (at::arange(18).reshape({6, 3}).to(at::kFloat) * 0.37).sin() * 0.4 + 0.5;
      const at::Tensor& target = sparse ? labels : y;
      const auto gradient = loss.gradient(o, target, weights);
      o.set_requires_grad(true);
      const at::Tensor mean = loss.mean(o, target, weights);
      mean.backward();
      if (gradient) {
        EXPECT_TRUE(at::allclose(*gradient, o.grad(), 1e-4, 1e-5)) << name << " " << activation;
      }
      // By differences of the value, in each element.
      const at::NoGradGuard guard;
      for (const std::int64_t i : {0, 7, 17}) {
        at::Tensor moved = o.detach().clone();
        float& value = moved.data_ptr<float>()[i];
        const float before = value;
        value = before + 0.01F;
        const double above = loss.mean(moved, target, weights).item<double>();
        value = before - 0.01F;
        const double below = loss.mean(moved, target, weights).item<double>();
        const double slope = (above - below) / 0.02;
        EXPECT_NEAR(o.grad().view(-1)[i].item<double>(), slope,
                    2e-2 * std::max(1.0, std::abs(slope)))
            << name << " " << activation << " " << i;
      }
    }
  }
}

TEST(Options, ClassesWithoutAWeightAreRefused) {
  std::vector<float> weights(2);
  EXPECT_THROW(weigh_rows({1, 2}, std::vector<float>{0, 2}, weights), Error);
  weigh_rows({1, 2, 4}, std::vector<float>{0.1F, 0.2F, 0.9F, 1, 0, 0}, weights);
  EXPECT_EQ(weights, (std::vector<float>{4, 1}));
}

}  // namespace
}  // namespace neutra::training
