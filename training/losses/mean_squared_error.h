#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of (o - y)^2.
struct MeanSquaredError {
  static constexpr LossFunction kFunction = LossFunction::kMeanSquared;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return square(o - y).mean(-1);
  }
  template <typename Tensor>
  static Tensor gradient(const Tensor& o, const Tensor& y) {
    return (o - y).mul_(2.0 / static_cast<double>(o.numel()));
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static NEUTRA_INLINE V value(V o, V t) { return (o - t) * (o - t); }
    static NEUTRA_INLINE V slope(V o, V t) { return 2 * (o - t); }
  };
};

}  // namespace
}  // namespace neutra::training::losses
