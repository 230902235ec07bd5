#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of 100 |(y - o) / max(|y|, eps)|.
struct MeanAbsolutePercentageError {
  static constexpr LossFunction kFunction = LossFunction::kMeanAbsolutePercentage;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return 100 * abs((y - o) / clamp_min(y.abs(), kEpsilon)).mean(-1);
  }
  template <typename Tensor>
  static Tensor gradient(const Tensor& o, const Tensor& y) {
    return tensorflow_sign(o - y).mul_(100.0 / static_cast<double>(o.numel())) /
           clamp_min(y.abs(), kEpsilon);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static NEUTRA_INLINE V size(V t) {
      constexpr auto e = static_cast<typename K::T>(kEpsilon);
      return K::abs(t) < e ? K::all(e) : K::abs(t);
    }
    static NEUTRA_INLINE V value(V o, V t) { return 100 * K::abs((t - o) / size(t)); }
    static NEUTRA_INLINE V slope(V o, V t) { return 100 * K::sign(o - t) / size(t); }
  };
};

}  // namespace
}  // namespace neutra::training::losses
