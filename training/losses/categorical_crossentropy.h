#pragma once

#include "training/losses/softmax_row.h"

namespace neutra::training::losses {
namespace {

/// -sum of y log(q), with q the outputs over their sum, clipped to [eps, 1 - eps].
struct CategoricalCrossentropy {
  static constexpr LossFunction kFunction = LossFunction::kCategoricalCrossentropy;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return -(y * log(clipped<Tensor>(o / o.sum(-1, true)))).sum(-1);
  }

  template <typename K>
  struct Row {
    using V = typename K::V;
    static NEUTRA_INLINE V row(const LossInput<K>& r, std::size_t b) {
      constexpr auto e = static_cast<typename K::T>(kEpsilon);
      V sum = K::zero(), value = K::zero(), dot = K::zero();
      for (std::size_t f = 0; f < r.features; ++f) sum += r.output(f, b);
      for (std::size_t f = 0; f < r.features; ++f) {
        const V q = r.output(f, b) / sum, c = K::clip(q, e, 1 - e), t = r.target(f, b);
        if (r.with_value) value -= t * K::log(c);
        if (r.dx) {
          const V d = K::within(q, e, 1 - e, -t / c);
          dot += d * q;
          r.set_gradient(f, b, d);
        }
      }
      if (r.dx) {
        for (std::size_t f = 0; f < r.features; ++f) {
          r.set_gradient(f, b, r.share * (r.gradient(f, b) - dot) / sum);
        }
      }
      return value;
    }
  };
};

/// Of the softmax's input z: -sum of y log softmax(z).
struct SoftmaxCrossentropy {
  static constexpr LossFunction kFunction = LossFunction::kSoftmaxCrossentropy;

  template <typename Tensor>
  static Tensor values(const Tensor& z, const Tensor& y) {
    return -(y * log_softmax(z, -1)).sum(-1);
  }
  /// TensorFlow's kernel returns this gradient even where a target doesn't sum to one, which isn't
  /// that of the value.
  template <typename Tensor>
  static Tensor gradient(const Tensor& z, const Tensor& y) {
    return softmax(z, -1).sub_(y).div_(z.numel() / z.size(-1));
  }

  template <typename K>
  using Row = SoftmaxRow<K, false>;
};

}  // namespace
}  // namespace neutra::training::losses
