#include "training/layers/module.h"
#include "training/layers/windows.h"

namespace neutra {
namespace {

/// activation(x * kernel + bias) over images (rows, height, width, channels) with a kernel (height,
/// width, input channels of a group, filters). Source: tf.keras 2.4 layers/convolutional.py.
class Conv2D final : public Module {
 public:
  explicit Conv2D(const ResolvedLayer& layer)
      : windows_(sliding_windows(layer, "kernel_size")),
        groups_(layer.config.at("groups")),
        name_(layer.config.at("activation")),
        activation_(find_activation(name_)) {}

  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const Pass&) const override {
    const WindowAxis &h = windows_.height, &w = windows_.width;
    // LibTorch pads both ends alike: an odd cell at the end must be there before.
    const bool thinned = h.window == 1 && w.window == 1 && (h.stride > 1 || w.stride > 1);
    const std::int64_t below = h.after - h.before, right = w.after - w.before;
    at::Tensor padded = below + right > 0 ? at::constant_pad_nd(x, {0, 0, 0, right, 0, below}) : x;
    // oneDNN 2.6 writes past its memory when it goes through images of this order by strides and
    // cell by cell; so they lose the cells between beforehand.
    if (thinned) {
      padded = padded.slice(1, 0, c10::nullopt, h.stride).slice(2, 0, c10::nullopt, w.stride);
      padded = padded.contiguous();
    }
    // Seen as (rows, channels, height, width) these are LibTorch's channels_last images.
    const at::Tensor y = at::conv2d(padded.permute({0, 3, 1, 2}), weights[0].permute({3, 2, 0, 1}),
                                    weights.size() > 1 ? weights[1] : at::Tensor(),
                                    {thinned ? 1 : h.stride, thinned ? 1 : w.stride},
                                    {h.before, w.before}, {h.dilation, w.dilation}, groups_)
                             .permute({0, 2, 3, 1})
                             .contiguous();
    return activation_ ? activation_(y) : y;
  }

  std::string take_activation() override {
    activation_ = nullptr;
    return name_;
  }

 private:
  Windows windows_;
  std::int64_t groups_;
  std::string name_;
  Activation activation_;
};

}  // namespace

std::unique_ptr<Module> module::conv_2d(const ResolvedLayer& layer) {
  return std::make_unique<Conv2D>(layer);
}

}  // namespace neutra
