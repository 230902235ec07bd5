#include <algorithm>
#include <limits>

#include "training/fused/images.h"
#include "training/fused/layers/registry.h"

/// Rules and sources: training/layers/windows.h, training/layers/pooling.cpp.
namespace neutra::training::fused {
namespace {

std::size_t channels(const Tensor& images) { return static_cast<std::size_t>(images.shape[2]); }

class MaxPoolingStep final : public Step {
 public:
  explicit MaxPoolingStep(MaxPooling pooling) : pooling_(std::move(pooling)) {}
  void forward(const Pass& pass) override {
    pooling_.forward(0, 0, pass.lanes.rows, pass.training);
  }
  void backward(const Pass& pass) override {
    if (pooling_.x.needs_gradient) pooling_.backward(0, 0, pass.lanes.rows);
  }

 private:
  MaxPooling pooling_;
};

class AveragePooling final : public Step {
 public:
  AveragePooling(const Windows& windows, const Tensor& x, const Tensor& y)
      : windows_(windows), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    average_pool(windows_, rows(pass), x_.shape[2], x_.values, y_.values);
  }
  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    average_pool_backward(windows_, rows(pass), x_.shape[2], y_.gradient, x_.gradient);
  }

 private:
  static std::int64_t rows(const Pass& pass) { return static_cast<std::int64_t>(pass.lanes.rows); }

  Windows windows_;
  Tensor x_, y_;
};

/// Mean or maximum of each channel; ties of a maximum share the gradient. The output is in columns.
class GlobalPooling final : public Step {
 public:
  GlobalPooling(bool maximum, const Tensor& x, const Tensor& y)
      : maximum_(maximum), channels_(channels(x)), pixels_(x.features / channels_), x_(x), y_(y) {}

  void forward(const Pass& pass) override {
    for (std::size_t row = 0; row < pass.lanes.rows; ++row) {
      for (std::size_t c = 0; c < channels_; ++c) {
        const float* from = x_.values + row * x_.features + c;
        float result = maximum_ ? -std::numeric_limits<float>::infinity() : 0;
        for (std::size_t p = 0; p < pixels_; ++p) {
          const float value = from[p * channels_];
          if (!maximum_) {
            result += value;
          } else if (!(value <= result)) {  // NaN stays
            result = result != result ? result : value;
          }
        }
        y_.values[c * pass.lanes.stride + row] =
            maximum_ ? result : result / static_cast<float>(pixels_);
      }
    }
  }

  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    for (std::size_t row = 0; row < pass.lanes.rows; ++row) {
      for (std::size_t c = 0; c < channels_; ++c) {
        const std::size_t from = row * x_.features + c, at = c * pass.lanes.stride + row;
        const float gradient = y_.gradient[at], largest = y_.values[at];
        auto chosen = static_cast<float>(pixels_);
        if (maximum_) {
          chosen = 0;
          for (std::size_t p = 0; p < pixels_; ++p) {
            chosen += x_.values[from + p * channels_] == largest ? 1.0f : 0.0f;
          }
        }
        for (std::size_t p = 0; p < pixels_; ++p) {
          const std::size_t cell = from + p * channels_;
          const float share = maximum_ && x_.values[cell] != largest ? gradient * 0 : gradient;
          x_.gradient[cell] = share / chosen;
        }
      }
    }
  }

 private:
  bool maximum_;
  std::size_t channels_, pixels_;
  Tensor x_, y_;
};

void global_pooling(Builder& builder, const program::ResolvedLayer& layer, bool maximum) {
  const Tensor x = to_images(builder);
  const Tensor y = builder.tensor(layer.output_shape, Layout::kColumns, x.needs_gradient);
  builder.add(std::make_unique<GlobalPooling>(maximum, x, y));
  builder.set_current(y);
}

}  // namespace

void MaxPooling::forward(std::size_t first, std::size_t at, std::size_t rows, bool training) const {
  max_pool(windows, rows, channels(x), x.relu_due, x.values + at * x.features,
           y.values + first * y.features,
           training && winners ? winners + first * y.features : nullptr);
}

void MaxPooling::backward(std::size_t first, std::size_t at, std::size_t rows) const {
  max_pool_backward(windows, rows, channels(x), winners + first * y.features,
                    y.gradient + first * y.features, x.gradient + at * x.features);
}

void layers::max_pooling_1d(Builder& builder, const program::ResolvedLayer& layer) {
  over_sequences(builder, layer, max_pooling_2d);
}
void layers::max_pooling_2d(Builder& builder, const program::ResolvedLayer& layer) {
  const Windows windows = sliding_windows(layer, "pool_size");
  if (windows.height.window * windows.width.window >= kLargestWindow) {
    throw NotCovered{"windows of " + std::to_string(windows.height.window) + " by " +
                     std::to_string(windows.width.window)};
  }
  const Tensor x = to_images(builder);
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient);
  std::uint16_t* winners = nullptr;
  if (x.needs_gradient) {
    const std::size_t count = Builder::batch_floats(y.features, builder.batch());
    winners = reinterpret_cast<std::uint16_t*>(builder.floats((count + 1) / 2));
  }
  const MaxPooling pooling{windows, x, y, winners};
  if (builder.last() == nullptr || !builder.last()->take_over(pooling)) {
    builder.add(std::make_unique<MaxPoolingStep>(pooling));
  }
  builder.set_current(y);
}

void layers::average_pooling_1d(Builder& builder, const program::ResolvedLayer& layer) {
  over_sequences(builder, layer, average_pooling_2d);
}
void layers::average_pooling_2d(Builder& builder, const program::ResolvedLayer& layer) {
  const Tensor x = to_images(builder);
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient);
  builder.add(std::make_unique<AveragePooling>(sliding_windows(layer, "pool_size"), x, y));
  builder.set_current(y);
}

void layers::global_average_pooling_1d(Builder& builder, const program::ResolvedLayer& layer) {
  over_sequences(builder, layer, global_average_pooling_2d);
}
void layers::global_average_pooling_2d(Builder& builder, const program::ResolvedLayer& layer) {
  global_pooling(builder, layer, false);
}
void layers::global_max_pooling_1d(Builder& builder, const program::ResolvedLayer& layer) {
  over_sequences(builder, layer, global_max_pooling_2d);
}
void layers::global_max_pooling_2d(Builder& builder, const program::ResolvedLayer& layer) {
  global_pooling(builder, layer, true);
}

}  // namespace neutra::training::fused
