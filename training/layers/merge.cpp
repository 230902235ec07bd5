#include <algorithm>

#include "program/layer.h"
#include "program/layers/merge.h"
#include "training/layers/module.h"

/// Layers that make one value of several. Source: tf.keras 2.4 layers/merge.py; gradients of
/// maxima: TensorFlow's math_grad.py, which gives that of equal values to the first.
namespace neutra::training {
namespace {

using at::Tensor;

/// Steps that count in each input.
Tensor all_count(std::span<const Tensor> masks) {
  Tensor all;
  for (const Tensor& mask : masks) {
    if (mask.defined()) all = all.defined() ? all.logical_and(mask) : mask;
  }
  return all;
}

/// One input after the other, of ranks made equal by extents of 1 behind the batch.
class Pairwise final : public Module {
 public:
  using Combine = Tensor (*)(const Tensor& a, const Tensor& b);
  Pairwise(Combine combine, bool mean) : combine_(combine), mean_(mean) {}

  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return x;
  }
  Tensor merge(std::span<const Tensor> inputs) const override {
    std::int64_t rank = 0;
    for (const Tensor& input : inputs) rank = std::max(rank, input.dim());
    Tensor result;
    for (const Tensor& input : inputs) {
      std::vector<std::int64_t> extents = input.sizes().vec();
      extents.insert(extents.begin() + 1, static_cast<std::size_t>(rank - input.dim()), 1);
      const Tensor same_rank = input.reshape(extents);
      result = result.defined() ? combine_(result, same_rank) : same_rank;
    }
    return mean_ ? result / static_cast<double>(inputs.size()) : result;
  }
  Tensor merge_masks(std::span<const Tensor> masks) const override { return all_count(masks); }

 private:
  Combine combine_;
  bool mean_;
};

class Concatenate final : public Module {
 public:
  explicit Concatenate(const program::ResolvedLayer& layer)
      : axis_(static_cast<std::int64_t>(
                  program::concatenation_axis(layer.config, layer.output_shape.size())) +
              1) {}

  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return x;
  }
  Tensor merge(std::span<const Tensor> inputs) const override {
    return at::cat({inputs.data(), inputs.size()}, axis_);
  }
  Tensor merge_masks(std::span<const Tensor> masks) const override {
    return axis_ == 1 ? at::cat({masks.data(), masks.size()}, 1) : all_count(masks);
  }

 private:
  std::int64_t axis_;
};

Tensor larger(const Tensor& a, const Tensor& b) {
  return at::where(a.ge(b).logical_or(a.ne(a)), a, b);  // NaN stays
}
Tensor smaller(const Tensor& a, const Tensor& b) {
  return at::where(a.le(b).logical_or(a.ne(a)), a, b);
}

std::unique_ptr<Module> pairwise(Pairwise::Combine combine, bool mean = false) {
  return std::make_unique<Pairwise>(combine, mean);
}

}  // namespace

std::unique_ptr<Module> module::add(const program::ResolvedLayer&) {
  return pairwise([](const Tensor& a, const Tensor& b) { return a + b; });
}
std::unique_ptr<Module> module::average(const program::ResolvedLayer&) {
  return pairwise([](const Tensor& a, const Tensor& b) { return a + b; }, true);
}
std::unique_ptr<Module> module::concatenate(const program::ResolvedLayer& layer) {
  return std::make_unique<Concatenate>(layer);
}
std::unique_ptr<Module> module::maximum(const program::ResolvedLayer&) { return pairwise(larger); }
std::unique_ptr<Module> module::minimum(const program::ResolvedLayer&) { return pairwise(smaller); }
std::unique_ptr<Module> module::multiply(const program::ResolvedLayer&) {
  return pairwise([](const Tensor& a, const Tensor& b) { return a * b; });
}
std::unique_ptr<Module> module::subtract(const program::ResolvedLayer&) {
  return pairwise([](const Tensor& a, const Tensor& b) { return a - b; });
}

}  // namespace neutra::training
