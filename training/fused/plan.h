#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "training/buffer.h"
#include "training/fused/builder.h"

namespace neutra::training::fused {

/// The steps of a program's layers over one block of memory.
class Plan {
 public:
  /// `target`: shape of one row's target. Throws NotCovered.
  Plan(const program::ResolvedProgram& program, const program::Shape& target, std::size_t batch,
       std::size_t capacity, Weights& weights);
  /// Bytes of the block, and whether there can be one: nothing is allocated. Throws NotCovered.
  static std::size_t measure(const program::ResolvedProgram& program, const program::Shape& target,
                             std::size_t batch, std::size_t capacity);

  /// Where a batch of features belongs.
  const Tensor& input() const { return input_; }
  const Tensor& output() const { return outputs_.back(); }
  /// Each layer's output.
  const std::vector<Tensor>& outputs() const { return outputs_; }
  /// The layer that makes the output; those behind it return their input.
  std::size_t output_position() const { return output_position_; }
  /// Memory for the targets of a batch, in columns. Where outputs are wider, the loss looks at
  /// copies of the one feature that there is; where targets are, at copies of the one output.
  float* targets() const { return targets_; }
  /// Likewise for the targets that label smoothing makes of them; null without.
  float* smoothed() const { return smoothed_; }
  /// Width of a target, and of what the loss compares.
  std::size_t target_features() const { return target_features_; }
  std::size_t loss_features() const { return loss_features_; }
  /// Memory for a batch of outputs, and for copies of it and of its gradient; null without.
  float* scratch() const { return scratch_; }
  float* output_copies() const { return output_copies_; }
  float* gradient_copies() const { return gradient_copies_; }
  /// The output's activation where the loss works on its input: it is no step then.
  const std::optional<Activation>& output_activation() const { return output_activation_; }
  LossFunction loss() const { return loss_; }
  /// Position of the layer that takes sparse batches, if there is one.
  std::optional<std::size_t> sparse_layer() const { return sparse_layer_; }

  void forward(const Pass& pass) {
    for (const auto& step : steps_) step->forward(pass);
  }
  void backward(const Pass& pass) {
    for (std::size_t i = steps_.size(); i-- > 0;) steps_[i]->backward(pass);
  }
  /// Once more the first step's part of the last backward().
  void backward_first(const Pass& pass) { steps_.front()->backward(pass); }

 private:
  Plan() = default;
  void build(const program::ResolvedProgram& program, const program::Shape& target,
             Builder& builder);

  Buffer memory_;
  Tensor input_;
  std::vector<Tensor> outputs_;
  std::size_t output_position_ = 0;
  std::vector<std::unique_ptr<Step>> steps_;
  float *targets_ = nullptr, *smoothed_ = nullptr, *scratch_ = nullptr;
  float *output_copies_ = nullptr, *gradient_copies_ = nullptr;
  std::size_t target_features_ = 0, loss_features_ = 0;
  std::optional<Activation> output_activation_;
  LossFunction loss_ = LossFunction::kMeanSquared;
  std::optional<std::size_t> sparse_layer_;
};

}  // namespace neutra::training::fused
