#include "training/layers/module.h"
#include "training/variables.h"

namespace neutra {
namespace {

/// In training each element is kept with probability 1 - rate and scaled by 1 / (1 - rate). A
/// noise_shape gives the mask's extents, null for the input's own. Source: tf.keras 2.4
/// layers/core.py, tf.nn.dropout.
class Dropout final : public Module {
 public:
  explicit Dropout(const ResolvedLayer& layer)
      : rate_(static_cast<float>(number_or(layer.config, "rate", 0))), index_(layer.index) {
    const Json shape = layer.config.value("noise_shape", Json());
    if (!shape.is_array()) return;
    for (const Json& n : shape) noise_shape_.push_back(n.is_number() ? n.get<std::int64_t>() : -1);
  }

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>, const Pass& pass) const override {
    if (!pass.training || rate_ == 0) return x;
    std::vector<std::int64_t> extents = x.sizes().vec();
    for (std::size_t i = 0; i < noise_shape_.size() && i < extents.size(); ++i) {
      if (noise_shape_[i] >= 0) extents[i] = noise_shape_[i];
    }
    const at::Tensor mask = at::empty(extents);
    fill_dropout_mask({pass.key, Stream::kDropout, static_cast<std::uint32_t>(index_), pass.step},
                      rate_, {mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel())});
    return x * mask;
  }

 private:
  float rate_;
  int index_;
  std::vector<std::int64_t> noise_shape_;
};

}  // namespace

std::unique_ptr<Module> module::dropout(const ResolvedLayer& layer) {
  return std::make_unique<Dropout>(layer);
}

}  // namespace neutra
