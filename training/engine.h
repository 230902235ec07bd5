#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "training/data/dataset.h"
#include "training/metrics.h"
#include "training/optimizers.h"
#include "training/random.h"
#include "training/sparse_rows.h"
#include "training/weights.h"

namespace neutra {

/// Rows begin .. end - 1 of a pair of arrays.
struct Rows {
  const Array* x = nullptr;
  const Array* y = nullptr;
  std::int64_t begin = 0, end = 0;
  const SparseRows* sparse = nullptr;  ///< all of x; null where dense rows are better
  std::int64_t count() const { return end - begin; }
};

using Metrics = std::map<std::string, Metric>;

/// What a back end computes for one program in training: gradients and evaluations. The loop over
/// epochs (training/loop.h) is the same for all.
class Engine {
 public:
  /// `training`: the rows that steps choose from; the arrays outlive the engine.
  Engine(const ResolvedProgram& program, const Rows& training, RandomKey key);
  virtual ~Engine() = default;

  /// What a step must deliver besides its update.
  struct Wanted {
    bool loss = false;
    bool output = false;  ///< output() and targets()
    bool layers = false;  ///< activations()
  };
  /// One optimiser step on the training rows begin + rows[i]; `step` counts from 0 over the
  /// training. Returns the loss with regularisers if wanted, else 0.
  double step(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted);
  /// The same without the update: writes weights().gradients(), regularisers included.
  double gradients(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted);

  /// Inference on the training rows begin + rows[i], at most a batch: gives output(), targets() and
  /// activations(). Returns the loss with regularisers.
  virtual double look(std::span<const std::int64_t> rows) = 0;

  /// Of the last step, where wanted, or look(): the model's outputs and the targets, row-major.
  virtual Batch output() = 0;
  virtual Batch targets() = 0;
  /// Likewise: each layer's outputs, row-major; valid until the next step or look().
  virtual std::vector<std::span<const float>> activations() = 0;

  /// Feeds the metrics with the model's outputs for the rows. Returns the loss where
  /// `loss_rows` > 0, as Keras takes it: mean over batches of that many rows (the hinge losses
  /// look at the labels of a whole batch), with regularisers; else 0.
  virtual double evaluate(const Rows& rows, Metrics& metrics, std::int64_t loss_rows) = 0;

  /// Both settle the engine first; ask again after each step.
  Weights& weights() {
    settle();
    return weights_;
  }
  Optimizer& optimizer() {
    settle();
    return *optimizer_;
  }
  virtual const char* backend() const = 0;  ///< "eager", "fused"
  /// Do weights and optimiser hold all that the training depends on from here?
  virtual bool resumable() const { return true; }

 protected:
  /// Forward and backward pass: sets every gradient but those of weight regularisers. Returns the
  /// loss without them if wanted.
  virtual double pass(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) = 0;
  /// Does what has been put off, so that weights, gradients and states are what they should be.
  /// Whoever asked may change them.
  virtual void settle() {}

  const ResolvedProgram& program_;
  const Rows training_;
  const RandomKey key_;
  Weights weights_;
  std::unique_ptr<Optimizer> optimizer_;
};

/// The program with zeros for initial values, for engines whose weights are set anyway.
ResolvedProgram without_initial_values(ResolvedProgram program);

/// Elements of one row.
std::int64_t element_product(const Shape& shape);

/// Elements of all variables.
std::int64_t weight_elements(const ResolvedProgram& program);

/// Elements that one row takes in all layers' outputs, and in what convolutions make of their
/// inputs: a copy with one cell more on each axis.
std::int64_t row_elements(const ResolvedProgram& program);

}  // namespace neutra
