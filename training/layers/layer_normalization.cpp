#include "training/layers/module.h"
#include "training/variables.h"

namespace neutra::training {
namespace {

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and population variance of the
/// last axis. Source: tf.keras 2.4 layers/normalization.py.
class LayerNormalization final : public Module {
 public:
  explicit LayerNormalization(const program::ResolvedLayer& layer)
      : epsilon_(number_or(layer.config, "epsilon", 0.001)),
        scale_(flag_or(layer.config, "scale", true)),
        center_(flag_or(layer.config, "center", true)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass&) const override {
    // In double precision, since gradients cancel where there are few values; the variance
    // overflows as a float does. LibTorch's own leaves a rounding where x - mean is 0.
    const at::Tensor wide = x.to(at::kDouble), distance = wide - wide.mean(-1, true);
    const at::Tensor variance = at::square(distance).mean(-1, true).to(at::kFloat);
    at::Tensor y = distance / at::sqrt(variance.to(at::kDouble) + epsilon_);
    if (scale_) y = y * weights[0];
    if (center_) y = y + weights[scale_ ? 1 : 0];
    return y.to(at::kFloat);
  }

 private:
  double epsilon_;
  bool scale_, center_;
};

}  // namespace

std::unique_ptr<Module> module::layer_normalization(const program::ResolvedLayer& layer) {
  return std::make_unique<LayerNormalization>(layer);
}

}  // namespace neutra::training
