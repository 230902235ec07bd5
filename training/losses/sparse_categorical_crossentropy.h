#pragma once

#include "training/losses/softmax_row.h"

namespace neutra::training::losses {
namespace {

/// Rows of outputs and one class index for each (Keras flattens targets of other ranks).
template <typename Tensor>
struct SparsePair {
  Tensor rows, labels;
  SparsePair(const Tensor& output, const Tensor& target)
      : rows(output.reshape({-1, output.size(-1)})),
        labels(target.reshape({-1}).to(decltype(target.scalar_type())::Long)) {}
};

/// Of the softmax's input z: -log softmax(z) of the class that the target names.
struct SparseSoftmaxCrossentropy {
  static constexpr LossFunction kFunction = LossFunction::kSparseSoftmaxCrossentropy;

  template <typename Tensor>
  static Tensor values(const Tensor& logits, const Tensor& target) {
    constexpr int kNone = 0;  // at::Reduction: a value for each row
    const SparsePair<Tensor> pair(logits, target);
    return nll_loss(log_softmax(pair.rows, -1), pair.labels, {}, kNone);
  }
  template <typename Tensor>
  static Tensor gradient(const Tensor& logits, const Tensor& target) {
    const SparsePair<Tensor> pair(logits, target);
    Tensor gradient = softmax(pair.rows, -1);
    float* values = gradient.template data_ptr<float>();
    const std::int64_t* label = pair.labels.template data_ptr<std::int64_t>();
    const std::int64_t n = pair.rows.size(0), width = pair.rows.size(1);
    for (std::int64_t i = 0; i < n; ++i) values[i * width + label[i]] -= 1;
    return gradient.div_(n).view(logits.sizes());
  }

  template <typename K>
  using Row = SoftmaxRow<K, true>;
};

/// Of probabilities p, clipped to [eps, 1 - eps]: their logarithms serve as logits, so the value is
/// log(sum of p) - log(p of the class that the target names).
struct SparseCategoricalCrossentropy {
  static constexpr LossFunction kFunction = LossFunction::kSparseCrossentropy;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return SparseSoftmaxCrossentropy::values<Tensor>(log(clipped(o)), y);
  }
  /// In double: where a class is certain, the logits' softmax - 1 loses its digits.
  template <typename Tensor>
  static Tensor gradient(const Tensor& output, const Tensor& target) {
    using Type = decltype(output.scalar_type());
    const SparsePair<Tensor> pair(output, target);
    const Tensor p = clipped(pair.rows).to(Type::Double), index = pair.labels.unsqueeze(-1);
    const Tensor slope = p.sum(-1, true).reciprocal().expand_as(p).clone();
    slope.scatter_add_(-1, index, -p.gather(-1, index).reciprocal());
    const Tensor inside = (pair.rows >= kEpsilon).logical_and(pair.rows <= 1 - kEpsilon);
    return where(inside, slope / pair.rows.size(0), zeros_like(p)).to(Type::Float).view_as(output);
  }

  template <typename K>
  struct Row {
    using V = typename K::V;
    using T = typename K::T;
    static NEUTRA_INLINE V row(const LossInput<K>& r, std::size_t b) {
      constexpr auto e = static_cast<T>(kEpsilon);
      const V label = K::whole(K::load(r.y + b));
      V others = K::zero(), chosen = K::zero();
      for (std::size_t f = 0; f < r.features; ++f) {
        const V c = K::clip(r.output(f, b), e, 1 - e);
        const typename K::M own = label == static_cast<T>(f);
        others += own ? K::zero() : c;
        chosen = own ? c : chosen;
      }
      const V sum = others + chosen;
      if (r.dx) {
        for (std::size_t f = 0; f < r.features; ++f) {
          const V o = r.output(f, b);
          // 1 / sum - 1 / chosen would lose its digits where the class is certain.
          const V slope = (label == static_cast<T>(f) ? -others / chosen : K::all(1)) / sum;
          r.set_gradient(f, b, K::within(o, e, 1 - e, r.share * slope));
        }
      }
      return r.with_value ? K::log(sum) - K::log(chosen) : K::zero();
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
