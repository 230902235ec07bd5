#include <algorithm>

#include "training/layers/module.h"
#include "training/layers/windows.h"

namespace neutra::training {
namespace {

/// activation(x * kernel + bias) over images (rows, height, width, channels) with a kernel (height,
/// width, input channels of a group, filters). Source: tf.keras 2.4 layers/convolutional.py.
class Conv2D final : public Module {
 public:
  explicit Conv2D(const program::ResolvedLayer& layer)
      : kernel_(layer.weights[0].shape),
        windows_(sliding_windows(layer, "kernel_size")),
        groups_(layer.config.at("groups")),
        name_(layer.config.at("activation")),
        activation_(find_activation(name_)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass&) const override {
    const WindowAxis &h = windows_.height, &w = windows_.width;
    const bool thinned = h.window == 1 && w.window == 1 && (h.stride > 1 || w.stride > 1);
    // LibTorch pads both ends alike: what one has more must be there before.
    const std::int64_t high = std::min(h.before, h.after), wide = std::min(w.before, w.after);
    at::Tensor padded = x;
    if (h.before != h.after || w.before != w.after) {
      padded = at::constant_pad_nd(
          x, {0, 0, w.before - wide, w.after - wide, h.before - high, h.after - high});
    }
    // oneDNN 2.6 writes past its memory when it goes through images of this order by strides and
    // cell by cell; so they lose the cells between beforehand.
    if (thinned) {
      padded = padded.slice(1, 0, c10::nullopt, h.stride).slice(2, 0, c10::nullopt, w.stride);
      padded = padded.contiguous();
    }
    // Seen as (rows, channels, height, width) these are LibTorch's channels_last images. Its
    // gradients of small convolutions want kernels in the same order.
    const at::Tensor images = padded.permute({0, 3, 1, 2});
    const at::Tensor kernel =
        weights[0].view(kernel_).permute({3, 2, 0, 1}).contiguous(images.suggest_memory_format());
    const at::Tensor y = at::conv2d(images, kernel, weights.size() > 1 ? weights[1] : at::Tensor(),
                                    {thinned ? 1 : h.stride, thinned ? 1 : w.stride}, {high, wide},
                                    {h.dilation, w.dilation}, groups_)
                             .permute({0, 2, 3, 1})
                             .contiguous();
    return activation_ ? activation_(y) : y;
  }

  std::string take_activation() override {
    activation_ = nullptr;
    return name_;
  }

 private:
  program::Shape kernel_;
  Windows windows_;
  std::int64_t groups_;
  std::string name_;
  Activation activation_;
};

/// A convolution of each channel with kernels of its own, then one over single cells.
/// Source: tf.keras 2.4 layers/convolutional.py, tf.nn.separable_conv2d.
class SeparableConv2D final : public Module {
 public:
  explicit SeparableConv2D(const SeparableParts& parts)
      : depthwise_(parts.depthwise), pointwise_(parts.pointwise) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass& pass) const override {
    return pointwise_.forward(depthwise_.forward(x, weights.first(1), pass), weights.subspan(1),
                              pass);
  }
  std::string take_activation() override { return pointwise_.take_activation(); }

 private:
  Conv2D depthwise_, pointwise_;
};

/// The gradient that a convolution over the output would give its input, by a kernel (height,
/// width, filters, input channels), and a bias. Sources: tf.keras 2.4 layers/convolutional.py and
/// backend.py (conv2d_transpose).
class Conv2DTranspose final : public Module {
 public:
  explicit Conv2DTranspose(const program::ResolvedLayer& layer)
      : kernel_(layer.weights[0].shape),
        windows_(transposed_windows(layer)),
        name_(layer.config.at("activation")),
        activation_(find_activation(name_)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass&) const override {
    const WindowAxis &h = windows_.height, &w = windows_.width;
    const bool cells = h.window == 1 && w.window == 1;
    at::Tensor images = x;
    // Windows of one cell go by cells: see Conv2D.
    if (cells && (h.stride > 1 || w.stride > 1)) {
      images = at::constant_pad_nd(x.unsqueeze(2).unsqueeze(4),
                                   {0, 0, 0, w.stride - 1, 0, 0, 0, h.stride - 1})
                   .reshape({x.size(0), x.size(1) * h.stride, x.size(2) * w.stride, x.size(3)});
    }
    images = images.permute({0, 3, 1, 2});
    const at::Tensor kernel =
        weights[0].view(kernel_).permute({3, 2, 0, 1}).contiguous(images.suggest_memory_format());
    const at::Tensor whole =
        at::conv_transpose2d(images, kernel, {}, {cells ? 1 : h.stride, cells ? 1 : w.stride},
                             {0, 0}, {0, 0}, 1, {h.dilation, w.dilation})
            .permute({0, 2, 3, 1});
    // What lies in the padding goes; what no window reaches is 0.
    at::Tensor y = at::constant_pad_nd(whole, {0, 0, -w.before, w.input + w.before - whole.size(2),
                                               -h.before, h.input + h.before - whole.size(1)});
    if (weights.size() > 1) y = y + weights[1];
    y = y.contiguous();
    return activation_ ? activation_(y) : y;
  }

  std::string take_activation() override {
    activation_ = nullptr;
    return name_;
  }

 private:
  program::Shape kernel_;
  Windows windows_;
  std::string name_;
  Activation activation_;
};

}  // namespace

std::unique_ptr<Module> module::conv_2d_transpose(const program::ResolvedLayer& layer) {
  return std::make_unique<Conv2DTranspose>(layer);
}
std::unique_ptr<Module> module::conv_1d(const program::ResolvedLayer& layer) {
  return over_sequences(layer, conv_2d);
}
std::unique_ptr<Module> module::conv_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<Conv2D>(layer);
}
std::unique_ptr<Module> module::depthwise_conv_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<Conv2D>(as_grouped(layer));
}
std::unique_ptr<Module> module::separable_conv_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<SeparableConv2D>(separable_parts(layer));
}

}  // namespace neutra::training
