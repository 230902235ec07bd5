#include <cmath>

#include "training/layers/module.h"
#include "training/variables.h"

namespace neutra::training {
namespace {

/// Numbers of a mask drawn for a layer in one step.
at::Tensor drawn(const std::vector<std::int64_t>& extents, const ForwardPass& pass, Stream stream,
                 int layer, auto&& fill) {
  at::Tensor values = at::empty(extents);
  fill(RandomStream{pass.key, stream, static_cast<std::uint32_t>(layer), pass.step},
       std::span<float>{values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  return values;
}

/// In training each element is kept with probability 1 - rate and scaled by 1 / (1 - rate). One
/// number of the mask is for all of an axis in `shared`. Source: tf.keras 2.4 layers/core.py,
/// tf.nn.dropout.
class Dropout final : public Module {
 public:
  explicit Dropout(const program::ResolvedLayer& layer, std::vector<std::size_t> shared = {})
      : rate_(static_cast<float>(number_or(layer.config, "rate", 0))),
        index_(layer.index),
        shared_(std::move(shared)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass& pass) const override {
    if (!pass.training || rate_ == 0) return x;
    std::vector<std::int64_t> extents = x.sizes().vec();
    for (const std::size_t axis : shared_) extents[axis] = 1;
    return x * drawn(extents, pass, Stream::kDropout, index_,
                     [&](const RandomStream& stream, std::span<float> mask) {
                       fill_dropout_mask(stream, rate_, mask);
                     });
  }

 private:
  float rate_;
  int index_;
  std::vector<std::size_t> shared_;
};

/// In training each element is multiplied with a normal number of mean 1 and variance rate / (1 -
/// rate). Source: tf.keras 2.4 layers/noise.py.
class GaussianDropout final : public Module {
 public:
  explicit GaussianDropout(const program::ResolvedLayer& layer)
      : rate_(number_or(layer.config, "rate", 0)), index_(layer.index) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass& pass) const override {
    if (!pass.training || rate_ == 0) return x;
    const auto stddev = static_cast<float>(std::sqrt(rate_ / (1 - rate_)));
    return x * drawn(x.sizes().vec(), pass, Stream::kNoise, index_,
                     [&](const RandomStream& stream, std::span<float> values) {
                       fill_normal(stream, 1, stddev, values);
                     });
  }

 private:
  double rate_;
  int index_;
};

}  // namespace

std::unique_ptr<Module> module::dropout(const program::ResolvedLayer& layer) {
  return std::make_unique<Dropout>(layer);
}
std::unique_ptr<Module> module::spatial_dropout_1d(const program::ResolvedLayer& layer) {
  return std::make_unique<Dropout>(layer, std::vector<std::size_t>{1});
}
std::unique_ptr<Module> module::spatial_dropout_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<Dropout>(layer, std::vector<std::size_t>{1, 2});
}
std::unique_ptr<Module> module::gaussian_dropout(const program::ResolvedLayer& layer) {
  return std::make_unique<GaussianDropout>(layer);
}

}  // namespace neutra::training
