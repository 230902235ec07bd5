#include "fused_comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>

#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/libraries.h"
#include "training/metrics.h"
#include "training/torch.h"

namespace neutra::training::tests {
namespace {

constexpr double kTolerance = 1e-5;  ///< of a vector's norm
/// Where that doesn't hold, results are allowed what no computation in floats can avoid: how much
/// they change when weights and inputs move by kMove; and this share of the terms of a sum over the
/// batch, which may cancel.
constexpr double kRounding = 0x1p-22, kMove = 0x1p-20;

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

double norm(const std::vector<float>& a) {
  double sum = 0;
  for (const float value : a) sum += std::isfinite(value) ? std::pow(double{value}, 2) : 0;
  return std::sqrt(sum);
}

std::string text(const std::vector<float>& values) {
  std::ostringstream out;
  out.precision(9);
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 24); ++i) {
    out << values[i] << " ";
  }
  return out.str();
}

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

bool overflowing(const std::vector<float>& weights) {
  return std::any_of(weights.begin(), weights.end(), [](float w) { return std::abs(w) > 1e8f; });
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

}  // namespace

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

Subject subject(int inputs, Json layers, const std::string& loss, const Json& how, int batch,
                int steps) {
  program::Program p = program_of("moons", inputs, std::move(layers), loss, "mae", how);
  p.document["fit"]["batch_size"] = batch;
  return {std::move(p.document), 30, 1, steps};
}

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

std::optional<std::string> compare(const Observation& eager, const Observation& fused,
                                   const std::function<Doubt()>& doubts, Counts& counts,
                                   bool of_cosines) {
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
  if (!std::equal(from.begin(), from.end(), to.begin(), to.end())) {
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

void FusedEngine::SetUp() {
  prepare_libraries();
  at::set_num_threads(1);
  at::globalContext().setFlushDenormal(true);
}
void FusedEngine::TearDown() { at::globalContext().setFlushDenormal(false); }

void FusedEngine::expect_agreement(const Subject& subject) {
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

}  // namespace neutra::training::tests
