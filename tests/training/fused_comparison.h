#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "programs.h"
#include "tests/training/draws.h"
#include "training/engine.h"
#include "training/keras_release.h"

/// The fused engine against the eager one: both train the same program from the same weights.
namespace neutra::training::tests {

// Programs in training on made-up rows.

struct Subject {
  Json document;
  int rows = 30;
  unsigned seed = 1;
  int steps = 5;
  int targets = 0;  ///< width of a target; 0: the outputs'
  KerasRelease keras = KerasRelease::kTf24;
};

std::ostream& operator<<(std::ostream& out, const Subject& subject);

inline Json& layers_of(Json& document) { return document["model"]["config"]["layers"]; }

/// A program in training, with that loss and optimiser.
Subject subject(int inputs, Json layers, const std::string& loss = "mean_squared_error",
                const Json& how = optimizer("SGD", 0.05), int batch = 16, int steps = 5);

/// Targets that suit the loss: classes, distributions, signs, counts, numbers.
Array targets(const std::string& loss, std::int64_t rows, std::int64_t width, Random& random);

/// A subject with its rows.
struct Made {
  program::ResolvedProgram program;
  Array x, y;
};
/// nullopt: not a program.
std::optional<Made> make(const Subject& subject);

/// Values by what they are.
using Observation = std::vector<std::pair<std::string, std::vector<float>>>;
/// One pass in training.
Observation pass(Engine& engine, const program::ResolvedProgram& program,
                 std::span<const std::int64_t> rows, std::uint32_t step, bool everything);
/// Euclidean; infinite where one has a NaN or infinity that the other has not. What almost
/// overflows may do so.
double distance(const std::vector<float>& a, const std::vector<float>& b);
/// What evaluations of these rows give.
Observation evaluation(Engine& engine, const Rows& rows);

/// How many comparisons were made, and how many of them needed a second look at rounding.
struct Counts {
  std::size_t comparisons = 0, doubted = 0;
};
/// How well each of an observation's values can be known.
struct Doubt {
  explicit Doubt(std::size_t size) : noise(size), terms(size) {}
  std::vector<double> noise;  ///< by how much it changes with small changes of what goes in
  std::vector<double> terms;  ///< the size of a sum's terms
  double slopes = 0;          ///< relative error of the slopes of saturated activations
  double centring = 0;        ///< relative error of what normalisations put out
  double losses = 1;          ///< of rows near 1 that are added up
};

/// Compares what two engines show.
std::optional<std::string> compare(const Observation& eager, const Observation& fused,
                                   const std::function<Doubt()>& doubts, Counts& counts,
                                   bool of_cosines = false);

/// Why the engines differ; nullopt: they agree.
std::optional<std::string> disagreement(const Subject& subject, Counts& counts);
/// The simplest program that differs likewise.
Subject shrunk(Subject failing);

class FusedEngine : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// The program must be one that both engines train, and they must agree.
  void expect_agreement(const Subject& subject);

  Counts counts_;
};

inline Json activation_layer(const std::string& name) {
  return layer("Activation", {{"activation", name}});
}

}  // namespace neutra::training::tests
