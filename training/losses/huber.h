#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of d^2 / 2 where |d| <= 1, else |d| - 1/2, with d = o - y: delta is 1.
struct Huber {
  static constexpr LossFunction kFunction = LossFunction::kHuber;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    const Tensor d = o - y, size = abs(d);
    return where(size <= 1, 0.5 * square(d), size - 0.5).mean(-1);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    using T = typename K::T;
    static NEUTRA_INLINE V value(V o, V t) {
      const V d = o - t, size = K::abs(d);
      return size <= 1 ? T(0.5) * (d * d) : size - T(0.5);
    }
    static NEUTRA_INLINE V slope(V o, V t) {
      const V d = o - t;
      return K::abs(d) <= 1 ? d : K::sign(d) + 0 * d;  // NaN where d is infinite, as in TensorFlow
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
