#include <torch/csrc/autograd/custom_function.h>

#include "training/layers/module.h"
#include "training/layers/windows.h"

namespace neutra::training {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor empty_images(const Windows& windows, bool output, const Tensor& like) {
  const WindowAxis &h = windows.height, &w = windows.width;
  return at::empty(
      {like.size(0), output ? h.output : h.input, output ? w.output : w.input, like.size(3)});
}

/// LibTorch's own poolings are scalar for this layout, and leave the order of ties and NaN open.
struct MaxPool : torch::autograd::Function<MaxPool> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Windows* windows) {
    context->save_for_backward({x});
    context->saved_data["windows"] = reinterpret_cast<std::int64_t>(windows);
    Tensor y = empty_images(*windows, true, x);
    max_pool(*windows, x.size(0), x.size(3), x.data_ptr<float>(), y.data_ptr<float>());
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto* windows = reinterpret_cast<const Windows*>(context->saved_data["windows"].toInt());
    const Tensor x = context->get_saved_variables().front();
    const Tensor dy = gradients.front().contiguous();
    Tensor dx = at::empty_like(x);
    max_pool_backward(*windows, x.size(0), x.size(3), x.data_ptr<float>(), dy.data_ptr<float>(),
                      dx.data_ptr<float>());
    return {dx, Tensor()};
  }
};

struct AveragePool : torch::autograd::Function<AveragePool> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Windows* windows) {
    context->saved_data["windows"] = reinterpret_cast<std::int64_t>(windows);
    Tensor y = empty_images(*windows, true, x);
    average_pool(*windows, x.size(0), x.size(3), x.data_ptr<float>(), y.data_ptr<float>());
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto* windows = reinterpret_cast<const Windows*>(context->saved_data["windows"].toInt());
    const Tensor dy = gradients.front().contiguous();
    Tensor dx = empty_images(*windows, false, dy);
    average_pool_backward(*windows, dy.size(0), dy.size(3), dy.data_ptr<float>(),
                          dx.data_ptr<float>());
    return {dx, Tensor()};
  }
};

/// Source: tf.keras 2.4 layers/pooling.py.
template <typename Pool>
class Pooling2D final : public Module {
 public:
  explicit Pooling2D(const program::ResolvedLayer& layer)
      : windows_(sliding_windows(layer, "pool_size")) {}
  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return Pool::apply(x.contiguous(), &windows_);
  }

 private:
  Windows windows_;
};

/// Mean or maximum of each channel. Ties of a maximum share the gradient, as in TensorFlow's
/// reduce_max.
class GlobalPooling2D final : public Module {
 public:
  explicit GlobalPooling2D(bool maximum) : maximum_(maximum) {}
  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return maximum_ ? at::amax(x, {1, 2}) : at::mean(x, at::IntArrayRef{1, 2});
  }

 private:
  bool maximum_;
};

/// Mean of the steps that count; NaN where none does, as in tf.keras 2.4 layers/pooling.py.
class GlobalAveragePooling1D final : public Module {
 public:
  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass& pass) const override {
    if (!pass.mask.defined()) return at::mean(x, at::IntArrayRef{1});
    const Tensor counts = pass.mask.to(x.scalar_type()).unsqueeze(-1);
    return (x * counts).sum(1) / counts.sum(1);
  }
};

}  // namespace

std::unique_ptr<Module> module::average_pooling_1d(const program::ResolvedLayer& layer) {
  return over_sequences(layer, average_pooling_2d);
}
std::unique_ptr<Module> module::average_pooling_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<Pooling2D<AveragePool>>(layer);
}
std::unique_ptr<Module> module::max_pooling_1d(const program::ResolvedLayer& layer) {
  return over_sequences(layer, max_pooling_2d);
}
std::unique_ptr<Module> module::max_pooling_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<Pooling2D<MaxPool>>(layer);
}
std::unique_ptr<Module> module::global_average_pooling_1d(const program::ResolvedLayer&) {
  return std::make_unique<GlobalAveragePooling1D>();
}
std::unique_ptr<Module> module::global_average_pooling_2d(const program::ResolvedLayer&) {
  return std::make_unique<GlobalPooling2D>(false);
}
std::unique_ptr<Module> module::global_max_pooling_1d(const program::ResolvedLayer& layer) {
  return over_sequences(layer, global_max_pooling_2d);
}
std::unique_ptr<Module> module::global_max_pooling_2d(const program::ResolvedLayer&) {
  return std::make_unique<GlobalPooling2D>(true);
}

}  // namespace neutra::training
