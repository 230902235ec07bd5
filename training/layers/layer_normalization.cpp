#include "training/layers/module.h"
#include "training/variables.h"

namespace neutra {
namespace {

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and population variance of the
/// last axis. Source: tf.keras 2.4 layers/normalization.py.
class LayerNormalization final : public Module {
 public:
  explicit LayerNormalization(const ResolvedLayer& layer)
      : epsilon_(number_or(layer.config, "epsilon", 0.001)),
        scale_(flag_or(layer.config, "scale", true)),
        center_(flag_or(layer.config, "center", true)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const Pass&) const override {
    return at::layer_norm(x, {x.size(-1)}, scale_ ? weights[0] : at::Tensor(),
                          center_ ? weights[scale_ ? 1 : 0] : at::Tensor(), epsilon_, false);
  }

 private:
  double epsilon_;
  bool scale_, center_;
};

}  // namespace

std::unique_ptr<Module> module::layer_normalization(const ResolvedLayer& layer) {
  return std::make_unique<LayerNormalization>(layer);
}

}  // namespace neutra
