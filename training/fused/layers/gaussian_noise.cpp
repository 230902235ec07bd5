#include <algorithm>

#include "training/fused/plan.h"

namespace neutra::fused {
namespace {

/// y = x + noise in training, else x. Both share their gradient.
class GaussianNoise final : public Step {
 public:
  GaussianNoise(const Tensor& x, const Tensor& y, float* noise, float* columns, float stddev,
                int layer)
      : x_(x), y_(y), noise_(noise), columns_(columns), stddev_(stddev), layer_(layer) {}

  void forward(const Pass& pass) override {
    const std::size_t count = value_count(x_, pass);
    std::copy_n(x_.values, count, y_.values);
    if (!pass.training) return;
    // In the order of rows, on which both back ends agree.
    fill_normal({pass.key, Stream::kNoise, static_cast<std::uint32_t>(layer_), pass.step}, 0,
                stddev_, {noise_, x_.features * pass.lanes.rows});
    const float* noise = noise_;
    if (x_.layout == Layout::kColumns) {
      table_.from_rows(x_.features, noise_, columns_, pass.lanes);
      noise = columns_;
    }
    for (std::size_t i = 0; i < count; ++i) y_.values[i] += noise[i];
  }
  void backward(const Pass&) override {}

 private:
  Tensor x_, y_;
  float *noise_, *columns_;
  float stddev_;
  int layer_;
  const KernelTable<float>& table_ = kernels();
};

}  // namespace

/// Source: tf.keras 2.4 layers/noise.py.
void layers::gaussian_noise(Builder& builder, const ResolvedLayer& layer) {
  const auto stddev = static_cast<float>(number_or(layer.config, "stddev", 0));
  if (stddev == 0) return;
  const Tensor x = builder.current();
  Tensor y = x;
  y.values = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  const std::size_t size = Builder::batch_floats(x.features, builder.batch());
  float* noise = builder.floats(size);
  float* columns = x.layout == Layout::kColumns ? builder.floats(size) : nullptr;
  builder.add(std::make_unique<GaussianNoise>(x, y, noise, columns, stddev, layer.index));
  builder.set_current(y);
}

}  // namespace neutra::fused
