#include "training/layers/module.h"
#include "training/variables.h"

namespace neutra::training {
namespace {

/// x plus normal numbers of mean 0 in training. Source: tf.keras 2.4 layers/noise.py.
class GaussianNoise final : public Module {
 public:
  explicit GaussianNoise(const program::ResolvedLayer& layer)
      : stddev_(static_cast<float>(number_or(layer.config, "stddev", 0))), index_(layer.index) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass& pass) const override {
    if (!pass.training || stddev_ == 0) return x;
    const at::Tensor noise = at::empty(x.sizes());
    fill_normal({pass.key, Stream::kNoise, static_cast<std::uint32_t>(index_), pass.step}, 0,
                stddev_, {noise.data_ptr<float>(), static_cast<std::size_t>(noise.numel())});
    return x + noise;
  }

 private:
  float stddev_;
  int index_;
};

}  // namespace

std::unique_ptr<Module> module::gaussian_noise(const program::ResolvedLayer& layer) {
  return std::make_unique<GaussianNoise>(layer);
}

}  // namespace neutra::training
