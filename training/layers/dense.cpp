#include "training/layers/module.h"

namespace neutra::training {
namespace {

/// activation(x kernel + bias) along the last axis. Source: tf.keras 2.4 layers/ops/core.py.
class Dense final : public Module {
 public:
  explicit Dense(const program::ResolvedLayer& layer)
      : name_(layer.config.at("activation")), activation_(find_activation(name_)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass&) const override {
    const at::Tensor& kernel = weights[0];
    const bool flat = x.dim() == 2;
    const at::Tensor rows = flat ? x : x.reshape({-1, x.size(-1)});
    at::Tensor y = weights.size() > 1 ? at::addmm(weights[1], rows, kernel) : at::mm(rows, kernel);
    if (!flat) {
      std::vector<std::int64_t> extents = x.sizes().vec();
      extents.back() = kernel.size(1);
      y = y.view(extents);
    }
    return activation_ ? activation_(y) : y;
  }

  std::string take_activation() override {
    activation_ = nullptr;
    return name_;
  }

 private:
  std::string name_;
  Activation activation_;
};

}  // namespace

std::unique_ptr<Module> module::dense(const program::ResolvedLayer& layer) {
  return std::make_unique<Dense>(layer);
}

}  // namespace neutra::training
