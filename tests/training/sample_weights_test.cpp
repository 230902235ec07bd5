#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>

#include "fused_comparison.h"
#include "image_programs.h"
#include "tests/source_file.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/losses.h"

/// Sample weights in training. weight_cases.json holds what tf.keras computes, made by
/// make_weight_cases.py.
namespace neutra::training {
namespace {

const Json& cases() {
  static const Json kCases = [] {
    std::ifstream file(source_file("tests/training/data/weight_cases.json"));
    return Json::parse(file);
  }();
  return kCases;
}

/// What a case trains.
struct Case {
  program::ResolvedProgram program;
  Array x, y, weights;
  Rows training, validation;

  explicit Case(const Json& c) {
    const program::Shape input = c.at("input_shape"), target = c.at("target_shape");
    const auto count = static_cast<std::int64_t>(c.at("sample_weight").size());
    program::Program p =
        program_of("moons", 2, c.at("layers"), c.at("loss"), "loss", c.at("optimizer"));
    Json& document = p.document;
    document["fit"]["class_weight"] = c.at("class_weight");
    document["fit"]["batch_size"] = 4;
    Json& first = document["model"]["config"]["layers"][0]["config"];
    first["batch_input_shape"] = Json::array({nullptr});
    for (const std::int64_t extent : input) first["batch_input_shape"].push_back(extent);
    x = {with_rows(count, input), c.at("x").get<std::vector<float>>()};
    y = {with_rows(count, target), c.at("y").get<std::vector<float>>()};
    weights = {{count}, c.at("sample_weight").get<std::vector<float>>()};
    program::DataInfo data;
    data.x = input;
    data.y = target;
    data.training_rows = count;
    data.y_max = *std::max_element(y.values.begin(), y.values.end());
    program::require_valid(document, c.at("name"), &data);
    program = program::resolve(p, &data);
    const double split = c.at("validation_split");
    const auto used = static_cast<std::int64_t>(static_cast<double>(count) * (1 - split));
    training = {&x, &y, 0, used, nullptr, &weights};
    validation = {&x, &y, used, count, nullptr, &weights};
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

/// Trains as fit(shuffle=False) does, and compares with it.
void expect_as_keras(const Json& c, Engine& engine, const Case& made, const std::string& name) {
  set_weights(engine, made.program, c.at("weights"));
  std::vector<std::int64_t> order(static_cast<std::size_t>(made.training.count()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::uint32_t step = 0;
  for (std::size_t epoch = 0; epoch < c.at("losses").size(); ++epoch) {
    double loss = 0;
    for (std::size_t begin = 0; begin < order.size(); begin += 4) {
      const std::size_t count = std::min<std::size_t>(4, order.size() - begin);
      loss += engine.step({order.data() + begin, count}, step++, {true, true}) *
              static_cast<double>(count);
    }
    const double expected = c["losses"][epoch];
    EXPECT_NEAR(loss / static_cast<double>(order.size()), expected,
                2e-5 * std::max(1.0, std::abs(expected)))
        << name << ", epoch " << epoch;
    if (c.at("validation_losses").empty()) continue;
    EXPECT_NEAR(engine.evaluate(made.validation, {}, 4),
                c["validation_losses"][epoch].get<double>(), 3e-5)
        << name << ", validation of epoch " << epoch;
  }
  for (std::size_t i = 0; i < made.program.layers.size(); ++i) {
    for (std::size_t k = 0; k < made.program.layers[i].weights.size(); ++k) {
      const auto values = variable(engine, i, k);
      const Json& expected = c.at("weights_after").at(i).at(k);
      for (std::size_t n = 0; n < values.size(); ++n) {
        ASSERT_NEAR(values[n], expected[n].get<double>(), 5e-5)
            << name << ": weight " << k << " of layer " << i;
      }
    }
  }
}

TEST(SampleWeights, TrainingAgreesWithKeras) {
  ASSERT_EQ(cases().size(), 30u);
  std::size_t fused = 0;
  for (const Json& c : cases()) {
    const Case made(c);
    const std::string name = c.at("name");
    const auto eager = make_eager_engine(made.program, made.training, {1, 2});
    expect_as_keras(c, *eager, made, name + ", eager");
    const std::optional<std::string> refusal = fused_refusal(made.program, made.training);
    if (made.program.loss.ends_with("hinge")) {
      EXPECT_EQ(refusal, "sample weights with the loss " + made.program.loss);
    }
    if (refusal) continue;
    ++fused;
    const auto engine = make_fused_engine(made.program, made.training, {1, 2});
    expect_as_keras(c, *engine, made, name + ", fused");
  }
  EXPECT_EQ(fused, 25u);  // not the hinge losses, nor sequences of outputs
}

/// Both engines on random programs, rows and weights: every loss, one output and several.
TEST(SampleWeights, BackEndsAgree) {
  for (const std::string& loss : loss_names()) {
    if (loss.ends_with("hinge")) continue;
    for (const int outputs : {1, 4}) {
      for (const bool by_class : {false, true}) {
        const bool cross = loss.ends_with("crossentropy") || loss.starts_with("kullback");
        if (loss == "cosine_similarity" && outputs == 1) continue;  // a sign, without a slope
        const bool positive = loss == "poisson" || loss.ends_with("logarithmic_error");
        const char* last = positive                     ? "exponential"
                           : !cross                     ? "linear"
                           : loss.starts_with("binary") ? "sigmoid"
                                                        : "softmax";
        tests::Subject subject = tests::subject(
            6, Json::array({dense(5, "tanh"), dense(outputs, last)}), loss, optimizer("SGD", 0.01));
        if (by_class) {
          subject.document["fit"]["class_weight"] = {{"0", 2}, {"1", 0.5}, {"2", 0}, {"3", 1.5}};
        }
        std::optional<tests::Made> made = tests::make(subject);
        if (!made) continue;  // targets that are no classes
        tests::Random random(static_cast<unsigned>(outputs) + 7);
        Array weights{{made->x.rows()}, {}};
        for (std::int64_t i = 0; i < made->x.rows(); ++i) {
          weights.values.push_back(static_cast<float>(3 * tests::unit(random) - 0.5));
        }
        const Rows rows{&made->x, &made->y, 0, made->x.rows(), nullptr, &weights};
        ASSERT_EQ(fused_refusal(made->program, rows), std::nullopt) << loss;
        const auto eager = make_eager_engine(made->program, rows, {3, 4}),
                   fused = make_fused_engine(made->program, rows, {3, 4});
        std::vector<std::int64_t> batch(16);
        for (std::uint32_t step = 0; step < 6; ++step) {
          for (std::size_t i = 0; i < batch.size(); ++i) {
            batch[i] = static_cast<std::int64_t>((i * 7 + step * 5) % 30);
          }
          const double a = eager->step(batch, step, {true, true}),
                       b = fused->step(batch, step, {true, true});
          ASSERT_NEAR(a, b, 2e-4 * std::max(1.0, std::abs(a))) << loss << " " << outputs;
        }
        const std::span<float> a = eager->weights().all(), b = fused->weights().all();
        double size = 0;
        for (const float value : a) size += double{value} * value;
        EXPECT_LT(tests::distance({a.begin(), a.end()}, {b.begin(), b.end()}),
                  2e-3 * std::max(1.0, std::sqrt(size)))
            << loss << " " << outputs;
        for (const std::int64_t loss_rows : {7, 16, 32}) {
          const double of_eager = eager->evaluate(rows, {}, loss_rows);
          EXPECT_NEAR(fused->evaluate(rows, {}, loss_rows), of_eager,
                      2e-3 * std::max(1.0, std::abs(of_eager)))
              << loss << " " << outputs;
        }
      }
    }
  }
}

/// Weights of 1 are none, weights of 0 teach nothing, and twice the weights are twice the gradient.
TEST(SampleWeights, AreFactorsOfEachRowsLoss) {
  const tests::Subject subject = tests::subject(
      6, Json::array({dense(5, "tanh"), dense(3, "softmax")}), "categorical_crossentropy");
  std::optional<tests::Made> made = tests::make(subject);
  ASSERT_TRUE(made);
  std::vector<std::int64_t> batch(16);
  std::iota(batch.begin(), batch.end(), std::int64_t{0});
  for (const auto make : {make_eager_engine, make_fused_engine}) {
    const auto gradients = [&](const Array* weights) {
      const auto engine = make(
          made->program, Rows{&made->x, &made->y, 0, made->x.rows(), nullptr, weights}, {5, 6});
      engine->gradients(batch, 0, {true, true});
      const std::span<float> found = engine->weights().gradients();
      return std::vector<float>(found.begin(), found.end());
    };
    const auto of = [&](float value) {
      const Array weights{{made->x.rows()},
                          std::vector<float>(static_cast<std::size_t>(made->x.rows()), value)};
      return gradients(&weights);
    };
    const std::vector<float> plain = gradients(nullptr);
    EXPECT_EQ(of(1), plain);
    std::vector<float> doubled = plain;
    for (float& value : doubled) value *= 2;
    EXPECT_EQ(of(2), doubled);
    for (const float value : of(0)) EXPECT_EQ(value, 0);
    EXPECT_NE(of(3), plain);
  }
}

}  // namespace
}  // namespace neutra::training
