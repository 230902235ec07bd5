#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "training/torch.h"

namespace neutra::training {

/// A loss of tf.keras 2.4; its formula and gradient are in training/losses/NAME.h. Outputs,
/// targets: tensors whose first extent is the batch. Shapes broadcast as in NumPy, after Keras's
/// rule: a last dimension of 1 that only one side has is dropped.
class Loss {
 public:
  /// `name`: of tf.keras 2.4, or what loss_of() (keras_release.h) makes of one.
  /// `output_activation`: what the model's output came from ("softmax", "sigmoid", else anything).
  /// Cross entropies over a matching one are computed from its input, as TensorFlow does, also
  /// where `options` say that the output is logits.
  Loss(const std::string& name, const std::string& output_activation,
       const program::LossOptions& options = {});

  /// Are `output` arguments the input of the output activation?
  bool on_logits() const { return on_logits_; }
  /// Are targets class indices?
  bool sparse() const { return sparse_; }
  /// Mean over all per-sample elements, differentiable unless gradient() is there. `weights`, where
  /// defined: what each row's elements, or those of each step (rows, steps), are multiplied with
  /// before.
  at::Tensor mean(const at::Tensor& output, const at::Tensor& target,
                  const at::Tensor& weights = {}) const;
  /// Gradient of mean() by `output`, where it is known in closed form; nullopt: differentiate
  /// mean(). No graph is made.
  std::optional<at::Tensor> gradient(const at::Tensor& output, const at::Tensor& target,
                                     const at::Tensor& weights = {}) const;

  using Values = at::Tensor (*)(const at::Tensor& output, const at::Tensor& target);
  using Gradient = at::Tensor (*)(const at::Tensor& output, const at::Tensor& target);

 private:
  /// Targets as the formulas take them.
  at::Tensor smoothed(const at::Tensor& target) const;

  Values values_;
  Gradient gradient_ = nullptr;
  bool on_logits_ = false;
  bool sparse_ = false;
  double smoothing_ = 0;
  bool binary_ = false;  ///< smoothed targets move towards a half, not towards equal shares
};

std::vector<std::string> loss_names();  ///< of tf.keras 2.4

}  // namespace neutra::training
