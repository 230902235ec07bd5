#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "training/constraints.h"
#include "training/data/dataset.h"
#include "training/metrics.h"
#include "training/optimizers/optimizer.h"
#include "training/random.h"
#include "training/sparse_rows.h"
#include "training/weights.h"

namespace neutra::training {

/// Rows begin .. end - 1 of a pair of arrays.
struct Rows {
  const Array* x = nullptr;
  const Array* y = nullptr;
  std::int64_t begin = 0, end = 0;
  const SparseRows* sparse = nullptr;  ///< all of x; null where dense rows are better
  const Array* weights = nullptr;      ///< what the loss of each row counts; null: all count alike
  std::int64_t count() const { return end - begin; }
};

/// Is called with the model's outputs for one batch of rows after the other, and their targets.
using OutputListener = std::function<void(const Batch& outputs, const Batch& targets)>;

/// What a back end computes for one program in training: gradients and evaluations. The loop over
/// epochs (training/loop.h) is the same for all, and so is what LoopStyle makes of a step.
class Engine {
 public:
  /// `training`: the rows that steps choose from; the arrays outlive the engine.
  Engine(const program::ResolvedProgram& program, const Rows& training, RandomKey key);
  virtual ~Engine() = default;
  /// One of the same back end for other rows, with weights of its own.
  virtual std::unique_ptr<Engine> twin(const program::ResolvedProgram& program,
                                       const Rows& training, RandomKey key) const = 0;

  /// Before the steps of an epoch, counted from 0: what the loop does once an epoch.
  void begin_epoch(std::int64_t epoch);
  /// What a step must deliver besides its update.
  struct Wanted {
    bool loss = false;
    bool output = false;  ///< output() and targets()
    bool layers = false;  ///< activations()
    bool output_gradients = false;
  };
  /// One step of the loop on the training rows begin + rows[i]; `step` counts from 0 over the
  /// training. Leaves in weights().gradients() what the update saw. Returns the loss of the batch
  /// with regularisers if wanted, else 0.
  double step(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted);
  /// Forward and backward pass alone: writes the gradients of these rows, regularisers included.
  double gradients(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted);
  /// The gradients that the next step adds its own to; empty where each step has its own alone.
  std::span<float> kept_gradients() { return kept_.floats(); }

  /// Inference on the training rows begin + rows[i], at most a batch: gives output(), targets() and
  /// activations(). Returns the loss with regularisers.
  virtual double look(std::span<const std::int64_t> rows) = 0;

  /// Of the last step, where wanted, or look(): the model's outputs and the targets, row-major.
  virtual Batch output() = 0;
  virtual Batch targets() = 0;
  /// Likewise: each layer's outputs, row-major; valid until the next step or look().
  virtual std::vector<std::span<const float>> activations() = 0;
  /// Of the last step, where wanted: the gradient of its loss by each layer's outputs; empty where
  /// there is none (LayerView). Only the eager engine has them.
  virtual std::vector<std::span<const float>> output_gradients() { return {}; }

  /// Inference: `listener`, where there is one, hears all rows in order. Returns the loss where
  /// `loss_rows` > 0, as Keras takes it: mean over batches of that many rows (the hinge losses
  /// look at the labels of a whole batch), weighted with their rows, with regularisers; else 0. A
  /// row's loss counts as much as its weight says.
  virtual double evaluate(const Rows& rows, const OutputListener& listener,
                          std::int64_t loss_rows) = 0;

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
  /// loss of the batch without them if wanted.
  virtual double pass(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) = 0;
  /// Does what has been put off, so that weights, gradients and states are what they should be.
  /// Whoever asked may change them.
  virtual void settle() {}
  /// Do the rows of a training count differently?
  bool weighs() const { return !program_.class_weights.empty() || training_.weights != nullptr; }
  /// The weights of the training rows begin + rows[i]: those of their classes times their own, as
  /// in tf.keras 2.4 (data_adapter.py). `targets`: as many for each row; not looked at without
  /// class weights. PyTorch's rules divide them by their mean. Throws like weigh_rows().
  void take_weights(std::span<const std::int64_t> rows, std::span<const float> targets,
                    std::span<float> weights) const;
  /// The loss of so many rows over the mean of their losses.
  float loss_scale(std::size_t rows) const {
    return program_.loop.sum ? static_cast<float>(rows) : 1.0f;
  }

  const program::ResolvedProgram& program_;
  const Rows training_;
  const RandomKey key_;
  Weights weights_;
  std::unique_ptr<Optimizer> optimizer_;
  Constraints constraints_;

 private:
  Buffer kept_;
};

/// The weight of each row by its class: that of the largest of several targets, else the target
/// without its fraction (tf.keras 2.4, data_adapter.py). `targets`: as many for each row. Throws
/// input_error for a class without a weight.
void weigh_rows(const std::vector<double>& class_weights, std::span<const float> targets,
                std::span<float> weights);

/// Does a step add its gradients to those of earlier steps?
bool adds_gradients(const program::LoopStyle& loop);

/// The program with zeros for initial values, for engines whose weights are set anyway, and without
/// class weights: they evaluate.
program::ResolvedProgram without_initial_values(program::ResolvedProgram program);

/// Elements of all variables.
std::int64_t weight_elements(const program::ResolvedProgram& program);

/// Elements of what a training keeps for its variables: weights, gradients and optimiser states.
std::int64_t kept_elements(const program::ResolvedProgram& program);

/// Elements that one row takes in all layers' outputs, and in what convolutions and recurrent
/// layers make of their inputs.
std::int64_t row_elements(const program::ResolvedProgram& program);

}  // namespace neutra::training
