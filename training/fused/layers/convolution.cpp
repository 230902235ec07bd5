#include "training/fused/layers/convolution.h"

#include <algorithm>
#include <utility>

#include "training/fused/images.h"
#include "training/fused/layers/registry.h"

namespace neutra::training::fused {
namespace {

/// Every stride-th cell of each axis.
class Thinning final : public Step {
 public:
  Thinning(const Windows& windows, const Tensor& x, const Tensor& y)
      : windows_(windows), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    for_cells(pass, [this](std::size_t from, std::size_t to, std::size_t channels) {
      std::copy_n(x_.values + from, channels, y_.values + to);
    });
  }
  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    std::fill_n(x_.gradient, pass.lanes.rows * x_.features, 0.0f);
    for_cells(pass, [this](std::size_t from, std::size_t to, std::size_t channels) {
      std::copy_n(y_.gradient + to, channels, x_.gradient + from);
    });
  }

 private:
  template <typename Visit>
  void for_cells(const Pass& pass, Visit visit) const {
    const WindowAxis &height = windows_.height, &width = windows_.width;
    const auto channels = static_cast<std::size_t>(x_.shape[2]);
    std::size_t to = 0;
    for (std::size_t row = 0; row < pass.lanes.rows; ++row) {
      for (std::int64_t i = 0; i < height.output; ++i) {
        for (std::int64_t j = 0; j < width.output; ++j, to += channels) {
          const std::int64_t cell = i * height.stride * width.input + j * width.stride;
          visit(row * x_.features + static_cast<std::size_t>(cell) * channels, to, channels);
        }
      }
    }
  }

  Windows windows_;
  Tensor x_, y_;
};

/// oneDNN 2.6 writes past its memory where windows of one cell go through images of this order by
/// strides. So the cells between are taken out beforehand.
void thin(Builder& builder, Windows& windows) {
  WindowAxis &h = windows.height, &w = windows.width;
  if (h.window != 1 || w.window != 1 || (h.stride == 1 && w.stride == 1)) return;
  const Tensor x = builder.current();
  const Tensor y =
      builder.tensor({h.output, w.output, x.shape[2]}, Layout::kRows, x.needs_gradient);
  builder.add(std::make_unique<Thinning>(windows, x, y));
  builder.set_current(y);
  h = {h.output, h.output};
  w = {w.output, w.output};
}

Parameter bias_of(const Builder& builder, const program::ResolvedLayer& layer, std::size_t k) {
  return layer.weights.size() > k ? builder.parameter(k) : Parameter{};
}

}  // namespace

ConvolutionGeometry::ConvolutionGeometry(const program::ResolvedLayer& conv_2d)
    : channels(conv_2d.input_shape[2]),
      filters(conv_2d.output_shape[2]),
      groups(conv_2d.config.at("groups")),
      windows(sliding_windows(conv_2d, "kernel_size")),
      bias(conv_2d.weights.size() > 1) {}

/// activation(x * kernel + bias). Source: tf.keras 2.4 layers/convolutional.py.
void add_convolution(Builder& builder, const program::ResolvedLayer& layer, Parameter kernel,
                     Parameter bias) {
  ConvolutionGeometry geometry(layer);
  to_images(builder);
  thin(builder, geometry.windows);
  const Tensor x = builder.current();
  const bool trainable = builder.has_trainable();
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient || trainable);
  const ConvolutionParts parts{x, y, kernel, bias, trainable};
  builder.add(suits_winograd(geometry, x.needs_gradient)
                  ? winograd_convolution(builder, geometry, parts)
                  : onednn_convolution(builder, geometry, parts));
  builder.set_current(y);
  add_activation(builder, named_activation(layer.config.at("activation")), true);
}

void layers::conv_1d(Builder& builder, const program::ResolvedLayer& layer) {
  over_sequences(builder, layer, conv_2d);
}
void layers::conv_2d(Builder& builder, const program::ResolvedLayer& layer) {
  add_convolution(builder, layer, builder.parameter(0), bias_of(builder, layer, 1));
}
void layers::conv_2d_transpose(Builder& builder, const program::ResolvedLayer& layer) {
  program::ResolvedLayer turned = layer;  // the convolution over the output, without a bias
  std::swap(turned.input_shape, turned.output_shape);
  turned.weights.resize(1);
  const ConvolutionGeometry geometry(turned);
  const WindowAxis &h = geometry.windows.height, &w = geometry.windows.width;
  if (h.window == 1 && w.window == 1 && (h.stride > 1 || w.stride > 1)) {
    throw NotCovered{"a transposed convolution of single cells with strides"};  // see thin()
  }
  const Tensor x = to_images(builder);
  const bool trainable = builder.has_trainable();
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient || trainable);
  builder.add(onednn_transposed_convolution(
      builder, geometry, {x, y, builder.parameter(0), bias_of(builder, layer, 1), trainable}));
  builder.set_current(y);
  add_activation(builder, named_activation(layer.config.at("activation")), true);
}
void layers::depthwise_conv_2d(Builder& builder, const program::ResolvedLayer& layer) {
  conv_2d(builder, as_grouped(layer));
}
void layers::separable_conv_2d(Builder& builder, const program::ResolvedLayer& layer) {
  const SeparableParts parts = separable_parts(layer);
  add_convolution(builder, parts.depthwise, builder.parameter(0), {});
  add_convolution(builder, parts.pointwise, builder.parameter(1), bias_of(builder, layer, 2));
}

}  // namespace neutra::training::fused
