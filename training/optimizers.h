#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/json.h"
#include "training/variables.h"

namespace neutra {

/// An optimiser of tf.keras 2.4 (OptimizerV2) on one flat buffer of weights: one vectorised pass a
/// step. States are made at the first step.
class Optimizer {
 public:
  /// `variables`: where each variable lies (for clipping by norm); gaps between them hold zeros and
  /// stay so.
  Optimizer(const Json& config, std::vector<Extent> variables);
  virtual ~Optimizer() = default;

  /// Clips the gradients in place, then updates the weights. Both spans have the same size at every
  /// call.
  void step(std::span<float> weights, std::span<float> gradients);
  /// Does a weight that is NaN stay so?
  virtual bool keeps_nan() const { return true; }

  /// All that the next step depends on besides weights and gradients.
  struct State {
    std::int64_t iterations = 0;
    double product = 1;  ///< of Nadam's momentum schedule
    std::vector<std::vector<float>> accumulators;
  };
  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 protected:
  /// One update; `rate` is the decayed learning rate, `t` counts from 1.
  virtual void update(float rate, std::int64_t t, std::span<float> weights,
                      std::span<const float> gradients) = 0;
  void keep_rate() { decay_ = 0; }  ///< for optimisers that don't know `decay`
  /// Accumulator `index`; made, full of `start`, at the first step.
  float* accumulator(std::size_t index, std::size_t size, float start = 0);
  double& product() { return state_.product; }

 private:
  void clip(std::span<float> gradients) const;

  double learning_rate_, decay_;
  double clip_value_, clip_norm_, global_clip_norm_;  ///< 0: off
  std::vector<Extent> variables_;
  State state_;
};

/// `optimizer` = {class_name, config}. Throws input_error for an unknown class or a learning-rate
/// schedule.
std::unique_ptr<Optimizer> make_optimizer(const Json& optimizer, std::vector<Extent> variables);
/// How many floats per weight the optimiser keeps.
int optimizer_states(const Json& optimizer);
std::vector<std::string> optimizer_names();

}  // namespace neutra
