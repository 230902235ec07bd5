#include "training/fused/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "programs.h"
#include "training/activations.h"
#include "training/eager.h"
#include "training/fused/layers/registry.h"
#include "training/fused/plan.h"
#include "training/initializers.h"
#include "training/keras_release.h"
#include "training/libraries.h"
#include "training/losses.h"
#include "training/optimizers/registry.h"
#include "training/torch.h"

/// The fused engine against the eager one: both train the same program from the same weights.
namespace neutra::training {
namespace {

constexpr double kTolerance = 1e-5;  ///< of a vector's norm
/// Where that doesn't hold, results are allowed what no computation in floats can avoid: how much
/// they change when weights and inputs move by kMove; and this share of the terms of a sum over the
/// batch, which may cancel.
constexpr double kRounding = 0x1p-22, kMove = 0x1p-20;

using Random = std::mt19937;

/// 0 .. count - 1; the same on every platform, other than the standard distributions.
int below(Random& random, int count) {
  return static_cast<int>(random() % static_cast<unsigned>(count));
}
double unit(Random& random) { return static_cast<double>(random() >> 8) * 0x1p-24; }
bool chance(Random& random, double probability) { return unit(random) < probability; }
template <typename T>
const T& pick(Random& random, const std::vector<T>& values) {
  return values[static_cast<std::size_t>(below(random, static_cast<int>(values.size())))];
}

// Programs in training on made-up rows.

struct Subject {
  Json document;
  int rows = 30;
  unsigned seed = 1;
  int steps = 5;
  int targets = 0;  ///< width of a target; 0: the outputs'
  KerasRelease keras = KerasRelease::kTf24;
};

std::ostream& operator<<(std::ostream& out, const Subject& subject) {
  Json small = {{"layers", subject.document["model"]["config"]["layers"]},
                {"compile", subject.document["compile"]},
                {"batch_size", subject.document["fit"]["batch_size"]},
                {"loop", subject.document["fit"].value("loop", Json::object())},
                {"rows", subject.rows},
                {"seed", subject.seed},
                {"steps", subject.steps},
                {"targets", subject.targets},
                {"Keras 2.2.4", subject.keras == KerasRelease::k224}};
  return out << small.dump();
}

Json& layers_of(Json& document) { return document["model"]["config"]["layers"]; }

Subject subject(int inputs, Json layers, const std::string& loss = "mean_squared_error",
                const Json& how = optimizer("SGD", 0.05), int batch = 16, int steps = 5) {
  program::Program p = program_of("moons", inputs, std::move(layers), loss, "mae", how);
  p.document["fit"]["batch_size"] = batch;
  return {std::move(p.document), 30, 1, steps};
}

/// Targets that suit the loss: classes, distributions, signs, counts, numbers.
Array targets(const std::string& loss, std::int64_t rows, std::int64_t width, Random& random) {
  Array y;
  if (loss == "sparse_categorical_crossentropy") {
    y.extents = {rows};
    const double part = chance(random, 0.2) ? 0.6 : 0;  // targets are cut to whole numbers
    for (std::int64_t i = 0; i < rows; ++i) {
      y.values.push_back(static_cast<float>(below(random, static_cast<int>(width)) + part));
    }
    return y;
  }
  y.extents = {rows, width};
  const bool signs = chance(random, 0.5), soft = chance(random, 0.3);
  for (std::int64_t i = 0; i < rows; ++i) {
    const int own = below(random, static_cast<int>(width));
    for (int k = 0; k < width; ++k) {
      double value = 3 * unit(random) - 1.5;
      if (loss == "binary_crossentropy") value = soft ? unit(random) : below(random, 2);
      if (loss == "hinge" || loss == "squared_hinge") {
        value = signs ? 2 * below(random, 2) - 1 : below(random, 2);
      }
      if (loss == "poisson" || loss == "mean_squared_logarithmic_error") value = below(random, 5);
      if (loss == "categorical_crossentropy" || loss == "categorical_hinge" ||
          loss == "kullback_leibler_divergence") {
        value = soft ? unit(random) : k == own;
      }
      y.values.push_back(static_cast<float>(value));
    }
  }
  return y;
}

struct Made {
  program::ResolvedProgram program;
  Array x, y;
};

std::optional<Made> make(const Subject& subject) {
  Made made;
  Random random(subject.seed);
  const Json& document = subject.document;
  const Json& layers = document["model"]["config"]["layers"];
  const std::int64_t inputs = layers[0]["config"]["batch_input_shape"][1];
  made.x.extents = {subject.rows, inputs};
  for (std::int64_t i = 0; i < subject.rows * inputs; ++i) {
    made.x.values.push_back(static_cast<float>(4 * unit(random) - 2));
  }
  std::int64_t width = inputs;
  for (const Json& one : layers) width = one["config"].value("units", width);
  if (subject.targets > 0) width = subject.targets;
  made.y = targets(document["compile"]["loss"], subject.rows, width, random);
  Dataset data;
  data.x_train = made.x;
  data.y_train = made.y;
  const program::DataInfo info = data.info();
  if (!program::validate(document, &info).empty()) return std::nullopt;
  made.program = program::resolve({document}, &info);
  made.program.loss = *loss_of(subject.keras, made.program.loss);
  return made;
}

// What an engine shows, and how far apart two of them are.

using Observation = std::vector<std::pair<std::string, std::vector<float>>>;

void observe_weights(Engine& engine, const program::ResolvedProgram& program, bool gradients,
                     Observation& seen) {
  Weights& weights = engine.weights();
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const auto& variables = weights.of_layer(i);
    for (std::size_t k = 0; k < variables.size(); ++k) {
      const std::string name = program.layers[i].weights[k].name + " of layer " + std::to_string(i);
      if (gradients && variables[k].trainable) {
        const auto values = variables[k].extent.of(weights.gradients());
        seen.emplace_back("gradient of " + name, std::vector(values.begin(), values.end()));
      } else if (!variables[k].trainable) {
        const auto values = variables[k].extent.of(weights.all());
        seen.emplace_back(name, std::vector(values.begin(), values.end()));
      }
    }
  }
}

/// One pass in training.
Observation pass(Engine& engine, const program::ResolvedProgram& program,
                 std::span<const std::int64_t> rows, std::uint32_t step, bool everything) {
  const double loss = engine.gradients(rows, step, {true, everything, everything});
  Observation seen{{"loss", {static_cast<float>(loss)}}};
  observe_weights(engine, program, true, seen);
  if (everything) {
    const Batch output = engine.output(), targets = engine.targets();
    EXPECT_EQ(output.extents[0], static_cast<std::int64_t>(rows.size()));
    seen.emplace_back("output", std::vector(output.values.begin(), output.values.end()));
    seen.emplace_back("targets", std::vector(targets.values.begin(), targets.values.end()));
    const auto activations = engine.activations();
    for (std::size_t i = 0; i < activations.size(); ++i) {
      seen.emplace_back("output of layer " + std::to_string(i),
                        std::vector(activations[i].begin(), activations[i].end()));
    }
  }
  return seen;
}

Observation evaluation(Engine& engine, const Rows& rows) {
  Observation seen;
  for (const std::int64_t loss_rows : {0, 10, 32}) {
    std::vector<std::pair<std::string, Metric>> metrics;
    for (const char* name : {"accuracy", "mae", "mse"}) metrics.emplace_back(name, Metric(name));
    const auto listener = [&](const Batch& outputs, const Batch& targets) {
      for (auto& [name, metric] : metrics) metric.add(outputs, targets);
    };
    const std::string suffix = " of batches of " + std::to_string(loss_rows);
    seen.emplace_back(
        "loss" + suffix,
        std::vector<float>{static_cast<float>(engine.evaluate(rows, listener, loss_rows))});
    for (const auto& [name, metric] : metrics) {
      seen.emplace_back(name + suffix, std::vector<float>{static_cast<float>(metric.value())});
    }
  }
  return seen;
}

/// Euclidean; infinite where one has a NaN or infinity that the other has not. What almost
/// overflows may do so.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
    } else if (!(std::isnan(a[i]) && std::isnan(b[i])) && a[i] != b[i] &&
               !(std::abs(a[i]) > 1e36 && std::abs(b[i]) > 1e36)) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return std::sqrt(sum);
}
double norm(const std::vector<float>& a) {
  double sum = 0;
  for (const float value : a) sum += std::isfinite(value) ? std::pow(double{value}, 2) : 0;
  return std::sqrt(sum);
}

std::string text(const std::vector<float>& values) {
  std::ostringstream out;
  out.precision(9);
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 24); ++i)
    out << values[i] << " ";
  return out.str();
}

/// How well each of an observation's values can be known.
struct Doubt {
  explicit Doubt(std::size_t size) : noise(size), terms(size) {}
  std::vector<double> noise;  ///< by how much it changes with small changes of what goes in
  std::vector<double> terms;  ///< the size of a sum's terms
  double slopes = 0;          ///< relative error of the slopes of saturated activations
  double centring = 0;        ///< relative error of what normalisations put out
  double losses = 1;          ///< of rows near 1 that are added up
};

using Observe = std::function<Observation(std::span<const std::int64_t> rows)>;

/// Of `base`, which `observe` saw of these rows with these weights. `summed`: over the rows, not
/// their mean.
Doubt doubt(Engine& engine, Array& x, const std::vector<float>& weights, const Observation& base,
            std::span<const std::int64_t> rows, const Observe& observe, bool summed) {
  Doubt found(base.size());
  const std::span<float> all = engine.weights().all();
  const std::vector<float> after(all.begin(), all.end()), inputs = x.values;
  Random random(7);
  const auto move = [&](const std::vector<float>& from, std::span<float> to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = from[i] * static_cast<float>(1 + kMove * (2 * unit(random) - 1));
    }
  };
  for (int k = 0; k < 8; ++k) {
    move(weights, all);
    move(inputs, x.values);
    const Observation moved = observe(rows);
    for (std::size_t i = 0; i < base.size(); ++i) {
      found.noise[i] = std::max(found.noise[i], distance(base[i].second, moved[i].second));
    }
  }
  std::copy(inputs.begin(), inputs.end(), x.values.begin());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy(weights.begin(), weights.end(), all.begin());
    const Observation one = observe(rows.subspan(r, 1));
    for (std::size_t i = 0; i < base.size(); ++i) {
      found.terms[i] += norm(one[i].second) / (summed ? 1.0 : static_cast<double>(rows.size()));
    }
  }
  std::copy(after.begin(), after.end(), all.begin());
  return found;
}

/// Slopes such as 1 - y^2 are made of outputs near their bound, whose distance to it has few
/// digits.
double slope_error(const program::ResolvedProgram& program,
                   const std::vector<std::span<const float>>& activations) {
  double largest = 0;
  for (std::size_t i = 0; i < activations.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    std::string name = layer.config.value("activation", "");
    if (layer.class_name == "Softmax") name = "softmax";
    if (layer.class_name == "ELU") name = "elu";
    const bool high = name == "tanh" || name == "sigmoid" || name == "softmax";
    double low = name == "tanh" || name == "elu" ? -1.0
                 : name == "selu"                ? -1.7580993408473766
                                                 : -INFINITY;
    if (layer.class_name == "ELU") low *= number_or(layer.config, "alpha", 1);
    for (const float y : activations[i]) {
      const double left = std::min(high ? 1 - double{y} : INFINITY, double{y} - low);
      largest = std::max(largest, 0x1p-22 / std::max(left, 0x1p-22));
    }
  }
  return largest;
}

/// Likewise the distance of a normalisation's inputs to their mean, over a batch's rows or a row's
/// features.
double centring_error(const program::ResolvedProgram& program,
                      const std::vector<std::span<const float>>& activations, std::size_t rows) {
  double largest = 0;
  for (std::size_t i = 1; i < activations.size(); ++i) {
    const bool of_batch = program.layers[i].class_name == "BatchNormalization";
    if (!of_batch && program.layers[i].class_name != "LayerNormalization") continue;
    const std::size_t features = activations[i - 1].size() / rows;
    const std::size_t groups = of_batch ? features : rows, size = of_batch ? rows : features;
    for (std::size_t g = 0; g < groups; ++g) {
      const auto value = [&](std::size_t k) -> double {
        return activations[i - 1][of_batch ? k * features + g : g * features + k];
      };
      double mean = 0, variance = 0;
      for (std::size_t k = 0; k < size; ++k) mean += value(k);
      mean /= static_cast<double>(size);
      for (std::size_t k = 0; k < size; ++k) variance += std::pow(value(k) - mean, 2);
      const double deviation = std::sqrt(variance / static_cast<double>(size));
      if (mean != 0) largest = std::max(largest, 0x1p-21 * std::abs(mean) / deviation);
    }
  }
  return largest;
}

struct Counts {
  std::size_t comparisons = 0, doubted = 0;
};

/// Compares what two engines show.
std::optional<std::string> compare(const Observation& eager, const Observation& fused,
                                   const std::function<Doubt()>& doubts, Counts& counts,
                                   bool of_cosines = false) {
  if (eager.size() != fused.size()) return "they show different things";
  std::optional<Doubt> known;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    ++counts.comparisons;
    const auto& [name, expected] = eager[i];
    const double apart = distance(expected, fused[i].second), size = norm(expected);
    if (apart <= kTolerance * size) continue;
    if (!known) known = doubts();
    ++counts.doubted;
    double terms = known->terms[i];
    // Losses, and how the lengths of vectors turn, are differences of numbers near 1.
    if (name.starts_with("loss") || of_cosines) terms = std::max(terms, known->losses);
    const double relative =
        kTolerance + known->centring + (name.starts_with("gradient") ? known->slopes : 0);
    // Of nearly constant inputs `relative` is infinite.
    const double share = size > 0 ? relative * size : 0;
    if (apart <= share + 4 * known->noise[i] + kRounding * terms) continue;
    std::ostringstream out;
    out << name << ": apart by " << apart << ", norm " << size << ", noise " << known->noise[i]
        << ", terms " << terms << "; eager " << text(expected) << "; fused "
        << text(fused[i].second);
    return out.str();
  }
  return std::nullopt;
}

/// Products of such weights overflow, and whether infinity - infinity becomes NaN then depends on
/// the order of a sum and on its use of fused multiply-add.
bool overflowing(const std::vector<float>& weights) {
  return std::any_of(weights.begin(), weights.end(), [](float w) { return std::abs(w) > 1e8f; });
}

/// Why the engines differ; nullopt: they agree.
std::optional<std::string> disagreement(const Subject& subject, Counts& counts) {
  std::optional<Made> made = make(subject);
  if (!made) return std::nullopt;  // not a program
  const program::ResolvedProgram& program = made->program;
  const Rows rows{&made->x, &made->y, 0, subject.rows};
  if (fused_refusal(program, rows)) return std::nullopt;
  const RandomKey key{subject.seed, 5};
  const bool of_cosines = program.loss == "cosine_similarity";
  const auto fused = make_fused_engine(program, rows, key);
  const auto eager = make_eager_engine(program, rows, key);
  const std::span<float> from = fused->weights().all(), to = eager->weights().all();
  if (from.size() != to.size() || std::memcmp(from.data(), to.data(), from.size_bytes()) != 0) {
    return "initial weights differ";
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(subject.rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Random random(subject.seed + 1);
  std::size_t begin = order.size();
  for (int step = 0; step < subject.steps; ++step) {
    if (begin >= order.size()) {
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1],
                  order[static_cast<std::size_t>(below(random, static_cast<int>(i)))]);
      }
      begin = 0;
    }
    const std::size_t count =
        std::min(static_cast<std::size_t>(program.batch_size), order.size() - begin);
    const std::span<const std::int64_t> batch = std::span(order).subspan(begin, count);
    begin += count;
    const auto t = static_cast<std::uint32_t>(step);
    const bool everything = step == 0 || step + 1 == subject.steps;
    const std::vector<float> weights(from.begin(), from.end());
    if (overflowing(weights)) return std::nullopt;
    std::copy(weights.begin(), weights.end(), to.begin());
    const Observe observe = [&](std::span<const std::int64_t> some) {
      return pass(*eager, program, some, t, everything);
    };
    const Observation expected = observe(batch);
    const Observation found = pass(*fused, program, batch, t, everything);
    const auto doubts = [&] {
      Doubt known = doubt(*eager, made->x, weights, expected, batch, observe, program.loop.sum);
      if (program.loop.sum) known.losses = static_cast<double>(batch.size());
      std::copy(weights.begin(), weights.end(), to.begin());
      eager->gradients(batch, t, {.layers = true});
      known.slopes = slope_error(program, eager->activations());
      known.centring = centring_error(program, eager->activations(), batch.size());
      return known;
    };
    if (auto problem = compare(expected, found, doubts, counts, of_cosines)) {
      return "step " + std::to_string(step) + ", " + *problem + "; weights " + text(weights);
    }
    const std::span<float> updated = fused->weights().updated();
    fused->optimizer().step(updated, fused->weights().gradients().first(updated.size()));
  }
  const std::vector<float> weights(from.begin(), from.end());
  if (overflowing(weights)) return std::nullopt;
  std::copy(weights.begin(), weights.end(), to.begin());
  const Observe observe = [&](std::span<const std::int64_t>) { return evaluation(*eager, rows); };
  const Observation expected = observe({});
  if (auto problem = compare(
          expected, evaluation(*fused, rows),
          [&] {
            Doubt known = doubt(*eager, made->x, weights, expected, {}, observe, false);
            if (program.loop.sum) known.losses = 32;  // the largest batch
            return known;
          },
          counts)) {
    return "evaluation, " + *problem + "; weights " + text(weights);
  }
  return std::nullopt;
}

// Shrinking.

/// Simpler neighbours of a program, the simplest first.
std::vector<Subject> simpler(const Subject& subject) {
  std::vector<Subject> found;
  auto add = [&](const std::function<void(Subject&)>& change) {
    Subject changed = subject;
    change(changed);
    std::ostringstream before, after;
    before << subject;
    after << changed;
    if (before.str() != after.str()) found.push_back(std::move(changed));
  };
  const Json& layers = subject.document["model"]["config"]["layers"];
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    add([&](Subject& s) {
      Json& left = layers_of(s.document);
      const Json shape = left[0]["config"]["batch_input_shape"];
      left.erase(i);
      left[0]["config"]["batch_input_shape"] = shape;
    });
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto config = [&](const std::function<void(Json&)>& change) {
      add([&](Subject& s) { change(layers_of(s.document)[i]["config"]); });
    };
    const Json& current = layers[i]["config"];
    if (current.contains("units")) {
      const int units = current["units"];
      config([&](Json& c) { c["units"] = std::max(1, units / 2); });
      config([&](Json& c) { c["units"] = std::max(1, units - 1); });
      config([](Json& c) { c["activation"] = "linear"; });
    }
    for (const auto& [field, value] : current.items()) {
      if (field != "units" && field != "activation" && field != "batch_input_shape" &&
          field != "rate") {
        const std::string name = field;
        config([&](Json& c) { c.erase(name); });
      }
    }
  }
  add([](Subject& s) { s.steps = std::max(1, s.steps / 2); });
  add([](Subject& s) { s.steps = std::max(1, s.steps - 1); });
  add([](Subject& s) { s.rows = std::max(1, s.rows / 2); });
  add([](Subject& s) { s.rows = std::max(1, s.rows - 1); });
  add([](Subject& s) {
    s.document["fit"]["batch_size"] = std::max(1, s.document["fit"]["batch_size"].get<int>() / 2);
  });
  add([](Subject& s) { s.document["compile"]["optimizer"] = optimizer("SGD", 0.01); });
  add([](Subject& s) { s.document["compile"]["loss"] = "mean_squared_error"; });
  add([](Subject& s) { s.document["fit"].erase("loop"); });
  add([](Subject& s) {
    Json& inputs = layers_of(s.document)[0]["config"]["batch_input_shape"][1];
    inputs = std::max(1, inputs.get<int>() / 2);
  });
  return found;
}

Subject shrunk(Subject failing) {
  Counts counts;
  for (int rounds = 0; rounds < 200; ++rounds) {
    bool smaller = false;
    for (Subject& candidate : simpler(failing)) {
      if (disagreement(candidate, counts)) {
        failing = std::move(candidate);
        smaller = true;
        break;
      }
    }
    if (!smaller) break;
  }
  return failing;
}

class FusedEngine : public testing::Test {
 protected:
  void SetUp() override {
    prepare_libraries();
    at::set_num_threads(1);
    at::globalContext().setFlushDenormal(true);
  }
  void TearDown() override { at::globalContext().setFlushDenormal(false); }

  /// The program must be one that both engines train, and they must agree.
  void expect_agreement(const Subject& subject) {
    const std::optional<Made> made = make(subject);
    ASSERT_TRUE(made) << subject;
    const std::optional<std::string> refusal =
        fused_refusal(made->program, {&made->x, &made->y, 0, subject.rows});
    ASSERT_FALSE(refusal) << subject << ": " << *refusal;
    if (const auto problem = disagreement(subject, counts_)) {
      const Subject smallest = shrunk(subject);
      ADD_FAILURE() << *problem << "\nof " << subject << "\nsmallest: " << smallest << "\n"
                    << *disagreement(smallest, counts_);
    }
  }
  Counts counts_;
};

Json activation_layer(const std::string& name) {
  return layer("Activation", {{"activation", name}});
}

TEST_F(FusedEngine, EveryActivation) {
  for (const std::string& name : activation_names()) {
    expect_agreement(subject(3, Json::array({dense(7, name), dense(2, "linear")}),
                             "mean_squared_error", optimizer("SGD", 0.05), 16, 50));
    expect_agreement(subject(3, Json::array({dense(5, "linear"), activation_layer(name),
                                             dense(4, "tanh"), activation_layer(name)})));
    // All weights 0: each input is at the kink.
    const Json zeros = {{"kernel_initializer", "zeros"}};
    expect_agreement(subject(3, Json::array({dense(4, "linear", zeros), activation_layer(name),
                                             dense(2, name, {{"kernel_initializer", "ones"}})})));
  }
}

TEST_F(FusedEngine, EveryLayer) {
  const std::vector<Json> tested{
      layer("ReLU", Json::object()),
      layer("ReLU", {{"max_value", 0.7}}),
      layer("ReLU", {{"negative_slope", 0.3}}),
      layer("ReLU", {{"negative_slope", 0.3}, {"threshold", 0.2}, {"max_value", 0.9}}),
      layer("ReLU", {{"threshold", 0.2}}),
      layer("LeakyReLU", Json::object()),
      layer("LeakyReLU", {{"alpha", 1.5}}),
      layer("ELU", Json::object()),
      layer("ELU", {{"alpha", 0.4}}),
      layer("Softmax", Json::object()),
      layer("Dropout", {{"rate", 0.3}}),
      layer("Dropout", {{"rate", 0}}),
      layer("GaussianDropout", {{"rate", 0.3}}),
      layer("GaussianDropout", {{"rate", 0}}),
      layer("GaussianNoise", {{"stddev", 0.3}}),
      layer("GaussianNoise", {{"stddev", 0}}),
      layer("LayerNormalization", Json::object()),
      layer("LayerNormalization", {{"epsilon", 0.2}, {"scale", false}}),
      layer("LayerNormalization", {{"center", false}, {"gamma_regularizer", "l2"}}),
      layer("LayerNormalization", {{"trainable", false}}),
      layer("BatchNormalization", Json::object()),
      layer("BatchNormalization", {{"momentum", 0.5}, {"epsilon", 0.1}}),
      layer("BatchNormalization", {{"scale", false}}),
      layer("BatchNormalization", {{"center", false}}),
      layer("BatchNormalization", {{"scale", false}, {"center", false}}),
      layer("BatchNormalization", {{"trainable", false}, {"moving_mean_initializer", "ones"}}),
      layer("BatchNormalization", {{"gamma_regularizer", "l2"}, {"beta_regularizer", "l1"}}),
      layer("Rescaling", {{"scale", 0.5}, {"offset", 1}}),
      layer("Normalization", Json::object()),
      layer("Normalization", {{"mean", 0.5}, {"variance", 4}}),
      layer("Normalization", {{"mean", 0.5}, {"variance", 4}, {"invert", true}}),
      layer("PReLU", {{"alpha_initializer", "random_normal"}}),
      layer("PReLU", {{"shared_axes", 1}, {"alpha_regularizer", "l2"}}),
      layer("PReLU", {{"alpha_initializer", "ones"}, {"trainable", false}}),
      layer("Flatten", Json::object()),
      layer("Reshape", {{"target_shape", {6}}}),
      layer("InputLayer", {{"batch_input_shape", {nullptr, 6}}}),
      dense(5, "relu", {{"use_bias", false}}),
      dense(5, "relu", {{"trainable", false}}),
      dense(5, "tanh", {{"kernel_regularizer", "l1_l2"}, {"bias_regularizer", "l2"}}),
      dense(5, "tanh", {{"trainable", false}, {"kernel_regularizer", "l2"}}),
  };
  std::set<std::string> seen;
  for (const Json& one : tested) {
    const std::string name = one["class_name"];
    seen.insert(name);
    for (const int batch : {1, 2, 8, 16, 17}) {
      // First, in the middle, last.
      Subject first = subject(6, Json::array({one, dense(3, "linear")}), "mean_squared_error",
                              optimizer("SGD", 0.05), batch);
      expect_agreement(first);
      if (name == "InputLayer") continue;
      expect_agreement(subject(4, Json::array({dense(6, "tanh"), one, dense(3, "linear")}),
                               "mean_squared_error", optimizer("SGD", 0.05), batch));
      expect_agreement(subject(4, Json::array({dense(6, "linear"), one}), "mean_squared_error",
                               optimizer("SGD", 0.05), batch));
    }
  }
  seen.insert("Activation");                         // EveryActivation
  seen.insert({"Conv2DTranspose", "UpSampling2D"});  // conv_test.cpp, options_test.cpp
  for (const char* extent : {"1D", "2D"}) {  // conv_test.cpp, fused_conv_test.cpp, masks_test.cpp
    for (const char* name :
         {"Conv", "AveragePooling", "GlobalAveragePooling", "GlobalMaxPooling", "MaxPooling",
          "ZeroPadding", "DepthwiseConv", "SeparableConv", "SpatialDropout"}) {
      seen.insert(std::string(name) + extent);
    }
  }
  for (const std::string& name : fused::fused_layer_names())
    EXPECT_TRUE(seen.contains(name)) << name;
}

TEST_F(FusedEngine, EveryLoss) {
  for (const std::string& loss : loss_names()) {
    for (const char* activation : {"linear", "sigmoid", "softmax", "relu", "exponential"}) {
      for (const int units : {1, 2, 5}) {
        expect_agreement(subject(3, Json::array({dense(6, "tanh"), dense(units, activation)}), loss,
                                 optimizer("SGD", 0.05), 16, units == 2 ? 50 : 3));
      }
      // The activation that a loss joins, in a layer of its own, with layers that do nothing
      // behind.
      expect_agreement(subject(3,
                               Json::array({dense(4, "linear"), activation_layer(activation),
                                            activation_layer("linear")}),
                               loss));
    }
    expect_agreement(
        subject(3, Json::array({dense(4, "linear"), layer("Softmax", Json::object())}), loss));
    // Outputs that are all the same, or all 0: ties and kinks.
    expect_agreement(
        subject(3, Json::array({dense(3, "linear", {{"kernel_initializer", "zeros"}})}), loss));
    expect_agreement(subject(
        3,
        Json::array(
            {dense(3, "linear", {{"kernel_initializer", "zeros"}, {"bias_initializer", "ones"}})}),
        loss));
  }
}

TEST_F(FusedEngine, EveryLossOfKeras224) {
  for (const std::string& loss : loss_names()) {
    const auto old = loss_of(KerasRelease::k224, loss);
    if (!old || *old == loss) continue;
    for (const char* activation : {"linear", "sigmoid", "softmax"}) {
      for (const int units : {1, 2, 5}) {
        Subject s = subject(3, Json::array({dense(6, "tanh"), dense(units, activation)}), loss,
                            optimizer("SGD", 0.05), 16);
        s.keras = KerasRelease::k224;
        expect_agreement(s);
      }
    }
  }
}

TEST_F(FusedEngine, EveryOptimizer) {
  for (const std::string& name : optimizer_names()) {
    for (Json more : {Json::object(), Json{{"clipnorm", 0.1}}, Json{{"clipvalue", 0.01}},
                      Json{{"decay", 0.1}}}) {
      Json how = optimizer(name, 0.02);
      if (name == "Ftrl" && more.contains("decay")) continue;
      how["config"].update(more);
      expect_agreement(
          subject(3,
                  Json::array({dense(6, "tanh"), layer("BatchNormalization", Json::object()),
                               dense(2, "linear", {{"kernel_regularizer", "l2"}})}),
                  "mean_squared_error", how, 16, 50));
    }
  }
}

TEST_F(FusedEngine, EqualGradientsGiveEqualWeights) {
  for (const std::string& name : optimizer_names()) {
    const Subject s = subject(3, Json::array({dense(5, "tanh"), dense(2, "linear")}),
                              "mean_squared_error", optimizer(name, 0.02));
    const Made made = *make(s);
    const Rows rows{&made.x, &made.y, 0, s.rows};
    const auto fused = make_fused_engine(made.program, rows, {1, 2});
    const auto eager = make_eager_engine(made.program, rows, {1, 2});
    std::vector<std::int64_t> batch(16);
    std::iota(batch.begin(), batch.end(), std::int64_t{3});
    for (std::uint32_t step = 0; step < 20; ++step) {
      fused->gradients(batch, step, {});
      for (Engine* engine : {fused.get(), eager.get()}) {
        const std::span<float> g = engine->weights().gradients();
        const std::span<float> from = fused->weights().gradients();
        if (g.data() != from.data()) std::copy(from.begin(), from.end(), g.begin());
      }
      for (Engine* engine : {fused.get(), eager.get()}) {
        engine->optimizer().step(engine->weights().updated(), engine->weights().gradients());
      }
      const std::span<float> a = fused->weights().all(), b = eager->weights().all();
      ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size_bytes()), 0) << name << " step " << step;
    }
  }
}

TEST_F(FusedEngine, EveryInitializer) {
  for (const std::string& name : initializer_names()) {
    const Json how = {{"class_name", name}, {"config", Json::object()}};
    Json more = {{"kernel_initializer", how}};
    if (name != "Identity" && name != "Orthogonal") more["bias_initializer"] = how;
    expect_agreement(subject(4, Json::array({dense(4, "tanh", more), dense(4, "linear", more)})));
  }
}

/// Layers whose kernels are large enough for sgemm take and give rows.
TEST_F(FusedEngine, LargeLayers) {
  const std::vector<Json> between{activation_layer("relu"), activation_layer("swish"),
                                  layer("Dropout", {{"rate", 0.3}}),
                                  layer("BatchNormalization", Json::object())};
  for (const int batch : {1, 5, 16}) {
    for (const Json& one : between) {
      expect_agreement(subject(301,
                               Json::array({one, dense(90, "relu"), dense(300, "tanh"), one,
                                            dense(83, "linear"), dense(3, "softmax")}),
                               "categorical_crossentropy", optimizer("SGD", 0.05), batch, 3));
    }
    expect_agreement(
        subject(7, Json::array({dense(280, "relu"), dense(100, "relu"), dense(1, "linear")}),
                "mean_squared_error", optimizer("SGD", 0.01), batch, 3));
  }
}

TEST_F(FusedEngine, ClassesAreCutToWholeNumbers) {
  for (const char* activation : {"softmax", "sigmoid"}) {
    Subject s = subject(4, Json::array({dense(5, "tanh"), dense(3, activation)}),
                        "sparse_categorical_crossentropy");
    Made made = *make(s);
    for (float& label : made.y.values) label = std::trunc(label) + 0.6f;
    const Rows rows{&made.x, &made.y, 0, s.rows};
    const auto fused = make_fused_engine(made.program, rows, {1, 2});
    const auto eager = make_eager_engine(made.program, rows, {1, 2});
    const std::vector<std::int64_t> batch{0, 3, 19};
    const double expected = eager->gradients(batch, 0, {.loss = true});
    EXPECT_NEAR(fused->gradients(batch, 0, {.loss = true}), expected, 1e-5) << activation;
    const auto a = fused->weights().gradients(), b = eager->weights().gradients();
    EXPECT_LT(distance({a.begin(), a.end()}, {b.begin(), b.end()}), 1e-6) << activation;
  }
}

/// Keras broadcasts targets of one value, and outputs of one.
TEST_F(FusedEngine, TargetsOfAnotherWidth) {
  for (const char* loss : {"mean_squared_error", "mean_absolute_error", "hinge", "squared_hinge",
                           "logcosh", "huber"}) {
    for (const auto& [outputs, width] : {std::pair{3, 1}, std::pair{1, 3}}) {
      for (const char* activation : {"linear", "sigmoid"}) {
        for (const int batch : {1, 5, 16}) {
          Subject s = subject(4, Json::array({dense(5, "tanh"), dense(outputs, activation)}), loss,
                              optimizer("SGD", 0.05), batch);
          s.targets = width;
          expect_agreement(s);
        }
      }
    }
  }
}

TEST_F(FusedEngine, RowsNeedNotBeginAtTheFirst) {
  const Subject s = subject(3, Json::array({dense(5, "tanh"), dense(2, "linear")}));
  const Made made = *make(s);
  const Rows rows{&made.x, &made.y, 10, s.rows};
  const auto fused = make_fused_engine(made.program, rows, {1, 2});
  const auto eager = make_eager_engine(made.program, rows, {1, 2});
  const std::vector<std::int64_t> batch{0, 3, 19};
  Counts counts;
  const Observation expected = pass(*eager, made.program, batch, 0, true);
  const auto problem = compare(
      expected, pass(*fused, made.program, batch, 0, true), [&] { return Doubt(expected.size()); },
      counts);
  EXPECT_FALSE(problem) << *problem;
  const Observation evaluated = evaluation(*eager, rows);
  const auto other = compare(
      evaluated, evaluation(*fused, rows), [&] { return Doubt(evaluated.size()); }, counts);
  EXPECT_FALSE(other) << *other;
}

/// An evaluation runs in several chunks; its batches don't begin at whole vectors.
TEST_F(FusedEngine, EvaluatesManyRows) {
  for (const char* loss : {"squared_hinge", "mean_squared_error", "categorical_crossentropy"}) {
    Subject s = subject(
        3, Json::array({dense(5, "tanh"), layer("Dropout", {{"rate", 0.5}}), dense(2, "softmax")}),
        loss);
    s.rows = 2500;
    s.steps = 2;
    expect_agreement(s);
  }
}

TEST_F(FusedEngine, DivergesAtTheSameStep) {
  for (const double rate : {1e3, 1e8, 1e15, 1e20, 1e30}) {
    for (const char* activation : {"relu", "tanh", "linear", "sigmoid"}) {
      const Subject s = subject(3, Json::array({dense(5, activation), dense(3, "linear")}),
                                "mean_squared_error", optimizer("SGD", rate));
      const Made made = *make(s);
      const Rows rows{&made.x, &made.y, 0, s.rows};
      const auto fused = make_fused_engine(made.program, rows, {1, 2});
      const auto eager = make_eager_engine(made.program, rows, {1, 2});
      std::vector<std::int64_t> batch(16);
      std::iota(batch.begin(), batch.end(), std::int64_t{3});
      for (std::uint32_t step = 0; step < 60; ++step) {
        const double a = fused->step(batch, step, {.loss = true});
        const double b = eager->step(batch, step, {.loss = true});
        ASSERT_EQ(std::isfinite(a), std::isfinite(b))
            << rate << " " << activation << " step " << step << ": " << a << " and " << b;
        ASSERT_EQ(fused->weights().all_finite(), eager->weights().all_finite())
            << rate << " " << activation << " step " << step;
      }
      EXPECT_EQ(fused->weights().all_nan(), eager->weights().all_nan()) << rate << activation;
    }
  }
}

// Values that aren't finite, or at the ends.

const std::vector<float> kSpecial{0,     -0.0f, 1,      -1,        0.3f,     2,
                                  1e-8f, 1e30f, -1e30f, -INFINITY, INFINITY, NAN};

void expect_same(float fused, float eager, const std::string& where) {
  if (!std::isfinite(eager) || !std::isfinite(fused)) {
    EXPECT_TRUE((std::isnan(eager) && std::isnan(fused)) || fused == eager)
        << where << ": fused " << fused << ", eager " << eager;
  } else {
    EXPECT_NEAR(fused, eager, 1e-5 * std::max(1.0f, std::abs(eager))) << where;
  }
}

TEST_F(FusedEngine, ActivationsOfSpecialValues) {
  for (const std::string& name : activation_names()) {
    if (name == "linear" || name == "softmax") continue;
    const fused::Activation f = fused::named_activation(name);
    for (const float x : kSpecial) {
      for (const float incoming : {1.0f, 0.0f, INFINITY, NAN}) {
        alignas(64) float values[16], y[16], dy[16];
        std::fill_n(values, 16, x);
        std::fill_n(dy, 16, incoming);
        fused::kernels().activate(f, 16, values, y);
        fused::kernels().differentiate(f, 16, fused::needs_input(f.function) ? values : y, dy);
        const at::Tensor input = at::full({16}, x).set_requires_grad(true);
        const at::Tensor output = find_activation(name)(input);
        output.backward(at::full({16}, incoming));
        const std::string where =
            name + " of " + std::to_string(x) + ", gradient " + std::to_string(incoming);
        expect_same(y[0], output[0].item<float>(), where);
        expect_same(dy[0], input.grad()[0].item<float>(), where + ": slope");
      }
    }
  }
}

/// Outputs take each special value, alone and with others; which gradients are NaN decides which
/// weights stay finite.
TEST_F(FusedEngine, LossesOfSpecialValues) {
  for (const std::string& loss : loss_names()) {
    for (const char* activation : {"linear", "softmax", "sigmoid"}) {
      const Subject s = [&] {
        Subject made =
            subject(2, Json::array({dense(2, activation, {{"kernel_initializer", "zeros"}})}), loss,
                    optimizer("SGD", 0.1), 1);
        made.rows = 4;
        return made;
      }();
      for (const float special : kSpecial) {
        Made made = *make(s);
        for (std::size_t i = 0; i < made.y.values.size(); ++i) {
          made.y.values[i] = i % 3 == 1 ? 1 : loss == "mean_absolute_percentage_error" ? 0.5f : 0;
        }
        const Rows rows{&made.x, &made.y, 0, 4};
        const auto fused = make_fused_engine(made.program, rows, {1, 2});
        const auto eager = make_eager_engine(made.program, rows, {1, 2});
        const Extent bias = fused->weights().of_layer(0)[1].extent;
        for (const auto& [first, second] : std::vector<std::pair<float, float>>{
                 {special, 0.5f}, {0.25f, special}, {special, special}}) {
          for (Engine* engine : {fused.get(), eager.get()}) {  // the bias is the output
            const auto values = bias.of(engine->weights().all());
            values[0] = first;
            values[1] = second;
          }
          for (std::int64_t row = 0; row < 4; ++row) {
            const std::vector<std::int64_t> one{row};
            const auto a = static_cast<float>(fused->gradients(one, 0, {.loss = true}));
            const auto b = static_cast<float>(eager->gradients(one, 0, {.loss = true}));
            std::ostringstream where;
            where << loss << " over " << activation << " of " << first << " and " << second
                  << ", row " << row;
            expect_same(a, b, where.str());
            for (std::size_t i = 0; i < 2; ++i) {
              expect_same(bias.of(fused->weights().gradients())[i],
                          bias.of(eager->weights().gradients())[i],
                          where.str() + ", gradient " + std::to_string(i));
            }
          }
        }
      }
    }
  }
}

// Random programs.

Json random_regularizer(Random& random) {
  return {{"class_name", "L1L2"},
          {"config", {{"l1", 0.01 * below(random, 3)}, {"l2", 0.01 * below(random, 3)}}}};
}

Json random_dense(Random& random, int units, const std::string& activation) {
  Json one = dense(units, activation);
  Json& config = one["config"];
  static const std::vector<std::string> kInitial{"glorot_uniform", "he_normal", "random_normal",
                                                 "lecun_uniform",  "ones",      "zeros"};
  if (chance(random, 0.3)) config["kernel_initializer"] = pick(random, kInitial);
  if (chance(random, 0.3))
    config["bias_initializer"] = chance(random, 0.5) ? "ones" : "random_uniform";
  if (chance(random, 0.1)) config["use_bias"] = false;
  if (chance(random, 0.1)) config["kernel_regularizer"] = random_regularizer(random);
  if (chance(random, 0.1)) config["bias_regularizer"] = random_regularizer(random);
  if (chance(random, 0.05)) config["trainable"] = false;
  return one;
}

Json random_other_layer(Random& random) {
  switch (below(random, 7)) {
    case 0:
      return layer("Dropout", {{"rate", 0.1 * below(random, 9)}});
    case 1: {
      Json config = Json::object();
      if (chance(random, 0.2)) config["scale"] = false;
      if (chance(random, 0.2)) config["center"] = false;
      if (chance(random, 0.2)) config["momentum"] = 0.5;
      if (chance(random, 0.1)) config["trainable"] = false;
      return layer("BatchNormalization", config);
    }
    case 2: {
      Json config = Json::object();
      if (chance(random, 0.4)) config["max_value"] = 1 + below(random, 6);
      if (chance(random, 0.4)) config["negative_slope"] = 0.1 * below(random, 4);
      if (chance(random, 0.4)) config["threshold"] = 0.25 * below(random, 4);
      return layer("ReLU", config);
    }
    case 3:
      return layer("LeakyReLU", {{"alpha", 0.1 * (1 + below(random, 5))}});
    case 4:
      return layer("ELU", {{"alpha", 0.5 * (1 + below(random, 3))}});
    case 5:
      return layer("Flatten", Json::object());
    default:
      return activation_layer(pick(random, activation_names()));
  }
}

Json random_noise_or_normalization(Random& random) {
  if (chance(random, 0.5)) return layer("GaussianNoise", {{"stddev", 0.1 * below(random, 4)}});
  Json config = Json::object();
  if (chance(random, 0.2)) config["scale"] = false;
  if (chance(random, 0.2)) config["center"] = false;
  if (chance(random, 0.1)) config["trainable"] = false;
  return layer("LayerNormalization", std::move(config));
}

Subject random_subject(unsigned seed) {
  Random random(seed), more(seed + 2'000'000);
  const std::string loss = pick(random, loss_names());
  std::vector<std::string> last{"linear", "sigmoid", "softmax"};
  if (chance(random, 0.2)) last = activation_names();
  static const std::vector<int> kUnits{1, 2, 3, 4, 5, 8, 10, 16, 17, 20, 33};
  Json layers = Json::array();
  const int depth = below(random, 4);
  for (int i = 0; i < depth; ++i) {
    layers.push_back(random_dense(random, pick(random, kUnits), pick(random, activation_names())));
    if (chance(random, 0.4)) layers.push_back(random_other_layer(random));
  }
  const int outputs = chance(random, 0.3) ? 1 : 2 + below(random, 9);
  layers.push_back(random_dense(random, outputs, pick(random, last)));
  if (chance(random, 0.1)) layers.push_back(random_other_layer(random));
  // Behind a batch normalisation, gradients that cancel would cancel twice.
  const bool normalised = std::any_of(layers.begin(), layers.end(), [](const Json& one) {
    return one["class_name"] == "BatchNormalization";
  });
  if (!normalised && chance(more, 0.3)) {
    layers.insert(layers.begin() + 1 + below(more, static_cast<int>(layers.size())),
                  random_noise_or_normalization(more));
  }
  Json how = optimizer(pick(random, optimizer_names()), std::pow(10.0, -1 - below(random, 3)));
  if (chance(random, 0.1)) how["config"]["learning_rate"] = std::pow(10.0, 3 * below(random, 12));
  if (chance(random, 0.1)) how["config"]["clipnorm"] = 1;
  Subject s = subject(pick(random, kUnits), std::move(layers), loss, how,
                      chance(random, 0.1) ? 1 : 1 + below(random, 40));
  s.rows = 1 + below(random, 60);
  s.seed = seed;
  s.steps = 1 + below(random, 6);
  return s;
}

/// What decides on gradients: the rest of a loop is the same code for both.
Json random_loop(Random& random, std::size_t layers) {
  Json loop = Json::object();
  const auto position = [&] { return below(random, static_cast<int>(layers)); };
  if (chance(random, 0.5)) loop["reduction"] = "sum";
  if (chance(random, 0.5)) loop["detached"] = position();
  if (chance(random, 0.5)) loop["left_out"] = {position(), position()};
  return loop;
}

TEST_F(FusedEngine, AgreesOnRandomPrograms) {
  int checked = 0, failures = 0;
  const auto check = [&](const Subject& s) {
    const std::optional<Made> made = make(s);
    if (!made || fused_refusal(made->program, {&made->x, &made->y, 0, s.rows})) return;
    ++checked;
    if (const auto problem = disagreement(s, counts_)) {
      ++failures;
      const Subject smallest = shrunk(s);
      ADD_FAILURE() << *problem << "\nsmallest: " << smallest << "\n"
                    << *disagreement(smallest, counts_);
    }
  };
  for (unsigned seed = 0; checked < 3000 && failures < 8; ++seed) {
    Subject s = random_subject(seed);
    check(s);
    if (seed % 2 == 1) continue;
    Random random(seed + 1'000'000);
    s.document["fit"]["loop"] = random_loop(random, layers_of(s.document).size());
    check(s);
  }
  // Most comparisons must hold without a doubt.
  EXPECT_LT(static_cast<double>(counts_.doubted), 0.02 * static_cast<double>(counts_.comparisons))
      << counts_.doubted << " of " << counts_.comparisons;
}

}  // namespace
}  // namespace neutra::training
