#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of |o - y|.
struct MeanAbsoluteError {
  static constexpr LossFunction kFunction = LossFunction::kMeanAbsolute;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return abs(o - y).mean(-1);
  }
  template <typename Tensor>
  static Tensor gradient(const Tensor& o, const Tensor& y) {
    return tensorflow_sign(o - y).div_(static_cast<double>(o.numel()));
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static NEUTRA_INLINE V value(V o, V t) { return K::abs(o - t); }
    static NEUTRA_INLINE V slope(V o, V t) { return K::sign(o - t); }
  };
};

}  // namespace
}  // namespace neutra::training::losses
