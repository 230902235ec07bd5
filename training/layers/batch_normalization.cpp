#include <algorithm>
#include <cmath>

#include "training/layers/module.h"
#include "training/variables.h"

namespace neutra::training {
namespace {

/// gamma (x - mean) / sqrt(variance + epsilon) + beta over the last axis, with the batch's
/// population statistics in training and the moving ones else; moving = moving m + batch (1 - m).
/// For inputs of four dimensions Keras takes TensorFlow's fused kernel: it puts the sample variance
/// into the moving one, and epsilon is at least 1.001e-5. With sample_variance it is PyTorch's: the
/// sample variance for inputs of any dimensions, and epsilon as it is given. Source: tf.keras 2.4
/// layers/normalization.py, TensorFlow's nn_impl.py fused_batch_norm; torch.nn.BatchNorm1d.
class BatchNormalization final : public Module {
 public:
  explicit BatchNormalization(const program::ResolvedLayer& layer)
      : momentum_(number_or(layer.config, "momentum", 0.99)),
        sample_(layer.input_shape.size() == 3 || flag_or(layer.config, "sample_variance", false)),
        epsilon_(
            std::max(number_or(layer.config, "epsilon", 0.001),
                     sample_ && !flag_or(layer.config, "sample_variance", false) ? 1.001e-5 : 0.0)),
        scale_(flag_or(layer.config, "scale", true)),
        center_(flag_or(layer.config, "center", true)),
        trainable_(flag_or(layer.config, "trainable", true)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass& pass) const override {
    const at::Tensor none;
    const at::Tensor& gamma = scale_ ? weights[0] : none;
    const at::Tensor& beta = center_ ? weights[scale_ ? 1 : 0] : none;
    const at::Tensor& mean = weights[weights.size() - 2];
    const at::Tensor& variance = weights[weights.size() - 1];
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    const bool training = pass.training && trainable_;  // a frozen layer infers
    at::Tensor y;
    if (!training) {
      y = at::batch_norm(rows, gamma, beta, mean, variance, false, 0, epsilon_, false);
    } else if (sample_ && rows.size(0) > 1) {
      // LibTorch, too, moves by the sample variance.
      y = at::batch_norm(rows, gamma, beta, mean, variance, true, 1 - momentum_, epsilon_, false);
    } else {
      const auto [v, m] = at::var_mean(rows.detach(), at::IntArrayRef{0}, false);
      mean.mul_(momentum_).add_(m, 1 - momentum_);
      variance.mul_(momentum_).add_(v, 1 - momentum_);
      if (rows.size(0) == 1) {  // x - mean is 0, where LibTorch's x a + b leaves a rounding
        y = (rows - rows) / std::sqrt(epsilon_);
        if (scale_) y = y * gamma;
        if (center_) y = y + beta;
      } else {
        // With no moving statistics given, training mode normalises by those of the batch.
        y = at::batch_norm(rows, gamma, beta, {}, {}, true, 0, epsilon_, false);
      }
    }
    return y.view(x.sizes());
  }

 private:
  double momentum_;
  bool sample_;  ///< the moving variance gets that of a sample
  double epsilon_;
  bool scale_, center_, trainable_;
};

}  // namespace

std::unique_ptr<Module> module::batch_normalization(const program::ResolvedLayer& layer) {
  return std::make_unique<BatchNormalization>(layer);
}

}  // namespace neutra::training
