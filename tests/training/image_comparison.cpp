#include "image_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "program/layer.h"
#include "training/eager.h"
#include "training/fused/engine.h"

namespace neutra::training::tests {
namespace {

constexpr double kTolerance = 1e-5;  ///< of a vector's norm

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
Difference compare(const program::ResolvedProgram& program, const ImageCase& subject,
                   unsigned seed) {
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

}  // namespace

/// A relu or a maximum may turn the other way by rounding: then the next data decide. A real error
/// shows with all.
void expect_agreement(const ImageCase& subject) {
  Json layers = subject.layers;
  if (layers.back()["config"].value("activation", "") != "softmax") {
    layers.push_back(layer("Flatten"));
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

}  // namespace neutra::training::tests
