#include "training/fused/plan.h"

namespace neutra::fused {
namespace {

/// y = x * mask in training, else x. Both share their gradient.
class Dropout final : public Step {
 public:
  Dropout(const Tensor& x, const Tensor& y, float* mask, float rate, int layer)
      : x_(x), y_(y), mask_(mask), rate_(rate), layer_(layer) {}

  void forward(const Pass& pass) override {
    const std::size_t count = value_count(x_, pass);
    if (!pass.training) {
      std::copy_n(x_.values, count, y_.values);
      return;
    }
    const RandomStream stream{pass.key, Stream::kDropout, static_cast<std::uint32_t>(layer_),
                              pass.step};
    if (x_.layout == Layout::kColumns) {
      table_.dropout(stream, rate_, x_.features, x_.values, mask_, y_.values, pass.lanes);
      return;
    }
    fill_dropout_mask(stream, rate_, {mask_, x_.features * pass.lanes.rows});
    table_.multiply(count, x_.values, mask_, y_.values);
  }

  void backward(const Pass& pass) override {
    if (x_.needs_gradient) table_.multiply(value_count(x_, pass), y_.gradient, mask_, y_.gradient);
  }

 private:
  Tensor x_, y_;
  float* mask_;
  float rate_;
  int layer_;
  const KernelTable<float>& table_ = kernels();
};

}  // namespace

/// Source: tf.keras 2.4 layers/core.py, tf.nn.dropout.
void layers::dropout(Builder& builder, const ResolvedLayer& layer) {
  const auto rate = static_cast<float>(number_or(layer.config, "rate", 0));
  if (rate == 0) return;
  if (layer.config.value("noise_shape", Json()).is_array()) {
    throw NotCovered{"Dropout with a noise_shape"};
  }
  const Tensor x = builder.current();
  Tensor y = x;
  y.values = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  float* mask = builder.floats(Builder::batch_floats(x.features, builder.batch()));
  builder.add(std::make_unique<Dropout>(x, y, mask, rate, layer.index));
  builder.set_current(y);
}

}  // namespace neutra::fused
