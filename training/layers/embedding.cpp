#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "training/layers/module.h"

namespace neutra::training {
namespace {

/// The rows of a table that inputs, cut to whole numbers, name. Source: tf.keras 2.4
/// layers/embeddings.py, tf.nn.embedding_lookup.
class Embedding final : public Module {
 public:
  explicit Embedding(const program::ResolvedLayer& layer) : index_(layer.index) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass& pass) const override {
    const at::Tensor& table = weights[0];
    const at::Tensor inputs = x.contiguous();
    const at::Tensor indices = at::empty(x.sizes(), at::kLong);
    const float* from = inputs.data_ptr<float>();
    auto* to = indices.data_ptr<std::int64_t>();
    const auto count = static_cast<std::size_t>(inputs.numel());
    const auto rows = static_cast<float>(table.size(0));
    for (std::size_t i = 0; i < count; ++i) {
      if (!(from[i] > -1 && from[i] < rows)) {  // NaN fails, too
        throw input_error(describe("", "layer " + std::to_string(index_) + " (Embedding)",
                                   "the index " + std::to_string(from[i]),
                                   "indices from 0 to " + std::to_string(table.size(0) - 1)));
      }
      to[i] = static_cast<std::int64_t>(from[i]);
    }
    if (pass.looked_up != nullptr) (*pass.looked_up)[index_].assign(to, to + count);
    return at::embedding(table, indices);
  }
  at::Tensor make_mask(const at::Tensor& x) const override { return x.ne(0); }  // mask_zero

 private:
  int index_;
};

}  // namespace

std::unique_ptr<Module> module::embedding(const program::ResolvedLayer& layer) {
  return std::make_unique<Embedding>(layer);
}

}  // namespace neutra::training
