#include "training/fused/plan.h"

namespace neutra::fused {
namespace {

/// y = x * mask in training, else x. Both share their gradient.
class Dropout final : public Step {
 public:
  Dropout(const Tensor& x, const Tensor& y, float* mask, float* scratch, float rate, int layer)
      : x_(x), y_(y), mask_(mask), scratch_(scratch), rate_(rate), layer_(layer) {}

  void forward(const Pass& pass) override {
    const std::size_t count = values(pass);
    if (!pass.training) {
      std::copy_n(x_.values, count, y_.values);
      return;
    }
    const RandomStream stream{pass.key, Stream::kDropout, static_cast<std::uint32_t>(layer_),
                              pass.step};
    const std::size_t drawn = x_.features * pass.lanes.rows;
    if (x_.layout == Layout::kRows) {
      fill_dropout_mask(stream, rate_, {mask_, drawn});
    } else if (x_.features % 4 == 0) {
      table_.dropout(stream, rate_, x_.features, x_.values, mask_, y_.values, pass.lanes);
      return;
    } else {
      fill_dropout_mask(stream, rate_, {scratch_, drawn});
      table_.from_rows(x_.features, scratch_, mask_, pass.lanes);
    }
    table_.multiply(count, x_.values, mask_, y_.values);
  }

  void backward(const Pass& pass) override {
    if (x_.needs_gradient) table_.multiply(values(pass), y_.gradient, mask_, y_.gradient);
  }

 private:
  std::size_t values(const Pass& pass) const {
    if (x_.layout == Layout::kColumns) return x_.features * pass.lanes.stride;
    return (x_.features * pass.lanes.rows + table_.width - 1) / table_.width * table_.width;
  }

  Tensor x_, y_;
  float *mask_, *scratch_;
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
  const std::size_t training = Builder::batch_floats(x.features, builder.batch());
  y.values = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  float* mask = builder.floats(training);
  float* scratch =
      x.layout == Layout::kColumns && x.features % 4 != 0 ? builder.floats(training) : nullptr;
  builder.add(std::make_unique<Dropout>(x, y, mask, scratch, rate, layer.index));
  builder.set_current(y);
}

}  // namespace neutra::fused
