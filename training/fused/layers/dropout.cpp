#include <algorithm>
#include <cmath>
#include <functional>

#include "training/fused/builder.h"
#include "training/fused/layers/registry.h"

namespace neutra::training::fused {
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

/// y = x * values or x + values in training, else x, with values that are drawn in the order of
/// rows, on which both back ends agree. Both share their gradient.
class Drawn final : public Step {
 public:
  enum class Use { kMultiply, kAdd };
  /// Writes the values of a batch, row-major.
  using Draw = std::function<void(const Pass& pass, std::span<float> values)>;
  Drawn(const Tensor& x, const Tensor& y, float* drawn, float* columns, Use use, Draw draw)
      : x_(x), y_(y), drawn_(drawn), columns_(columns), use_(use), draw_(std::move(draw)) {}

  void forward(const Pass& pass) override {
    const std::size_t count = value_count(x_, pass);
    if (!pass.training) {
      std::copy_n(x_.values, count, y_.values);
      return;
    }
    draw_(pass, {drawn_, x_.features * pass.lanes.rows});
    if (columns_ != nullptr) table_.from_rows(x_.features, drawn_, columns_, pass.lanes);
    if (use_ == Use::kMultiply) {
      table_.multiply(count, x_.values, values(), y_.values);
    } else {
      std::transform(x_.values, x_.values + count, values(), y_.values, std::plus<float>());
    }
  }
  void backward(const Pass& pass) override {
    if (use_ == Use::kMultiply && x_.needs_gradient) {
      table_.multiply(value_count(x_, pass), y_.gradient, values(), y_.gradient);
    }
  }

 private:
  const float* values() const { return columns_ != nullptr ? columns_ : drawn_; }

  Tensor x_, y_;
  float *drawn_, *columns_;  ///< the latter where the batch lies in columns
  Use use_;
  Draw draw_;
  const KernelTable<float>& table_ = kernels();
};

void add_drawn(Builder& builder, Drawn::Use use, Drawn::Draw draw) {
  const Tensor x = builder.current();
  Tensor y = x;
  y.values = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  const std::size_t size = Builder::batch_floats(x.features, builder.batch());
  float* drawn = builder.floats(size);
  float* columns = x.layout == Layout::kColumns ? builder.floats(size) : nullptr;
  builder.add(std::make_unique<Drawn>(x, y, drawn, columns, use, std::move(draw)));
  builder.set_current(y);
}

RandomStream stream_of(const Pass& pass, Stream stream, int layer) {
  return {pass.key, stream, static_cast<std::uint32_t>(layer), pass.step};
}

}  // namespace

/// Whole channels. Source: tf.keras 2.4 layers/core.py.
void layers::spatial_dropout(Builder& builder, const program::ResolvedLayer& layer) {
  const auto rate = static_cast<float>(number_or(layer.config, "rate", 0));
  if (rate == 0) return;
  const auto channels = static_cast<std::size_t>(layer.input_shape.back());
  const std::size_t cells = builder.current().features / channels;
  float* kept = builder.floats(channels * builder.batch());  // of each row
  add_drawn(
      builder, Drawn::Use::kMultiply,
      [=, index = layer.index](const Pass& pass, std::span<float> mask) {
        const std::size_t rows = pass.lanes.rows;
        fill_dropout_mask(stream_of(pass, Stream::kDropout, index), rate, {kept, channels * rows});
        for (std::size_t i = 0; i < rows * cells; ++i) {
          std::copy_n(kept + i / cells * channels, channels, mask.data() + i * channels);
        }
      });
}

/// Source: tf.keras 2.4 layers/noise.py.
void layers::gaussian_dropout(Builder& builder, const program::ResolvedLayer& layer) {
  const double rate = number_or(layer.config, "rate", 0);
  if (rate == 0) return;
  const auto stddev = static_cast<float>(std::sqrt(rate / (1 - rate)));
  add_drawn(builder, Drawn::Use::kMultiply,
            [=, index = layer.index](const Pass& pass, std::span<float> mask) {
              fill_normal(stream_of(pass, Stream::kNoise, index), 1, stddev, mask);
            });
}

/// Source: tf.keras 2.4 layers/noise.py.
void layers::gaussian_noise(Builder& builder, const program::ResolvedLayer& layer) {
  const auto stddev = static_cast<float>(number_or(layer.config, "stddev", 0));
  if (stddev == 0) return;
  add_drawn(builder, Drawn::Use::kAdd,
            [=, index = layer.index](const Pass& pass, std::span<float> noise) {
              fill_normal(stream_of(pass, Stream::kNoise, index), 0, stddev, noise);
            });
}

/// Source: tf.keras 2.4 layers/core.py, tf.nn.dropout.
void layers::dropout(Builder& builder, const program::ResolvedLayer& layer) {
  const auto rate = static_cast<float>(number_or(layer.config, "rate", 0));
  if (rate == 0) return;
  const Tensor x = builder.current();
  Tensor y = x;
  y.values = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  float* mask = builder.floats(Builder::batch_floats(x.features, builder.batch()));
  builder.add(std::make_unique<Dropout>(x, y, mask, rate, layer.index));
  builder.set_current(y);
}

}  // namespace neutra::training::fused
