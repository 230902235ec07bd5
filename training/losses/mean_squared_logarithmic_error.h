#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of (log(max(o, eps) + 1) - log(max(y, eps) + 1))^2.
struct MeanSquaredLogarithmicError {
  static constexpr LossFunction kFunction = LossFunction::kMeanSquaredLogarithmic;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    const Tensor first = log(clamp_min(o, kEpsilon) + 1);
    return square(first - log(clamp_min(y, kEpsilon) + 1)).mean(-1);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static constexpr auto e = static_cast<typename K::T>(kEpsilon);
    static NEUTRA_INLINE V logarithm(V v) { return K::log((v < e ? K::all(e) : v) + 1); }
    static NEUTRA_INLINE V value(V o, V t) {
      const V d = logarithm(o) - logarithm(t);
      return d * d;
    }
    static NEUTRA_INLINE V slope(V o, V t) {
      const V d = 2 * (logarithm(o) - logarithm(t)) / ((o < e ? K::all(e) : o) + 1);
      return o >= e ? d : K::zero();
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
