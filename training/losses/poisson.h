#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of o - y log(o + eps).
struct Poisson {
  static constexpr LossFunction kFunction = LossFunction::kPoisson;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return (o - y * log(o + kEpsilon)).mean(-1);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static constexpr auto e = static_cast<typename K::T>(kEpsilon);
    static NEUTRA_INLINE V value(V o, V t) { return o - t * K::log(o + e); }
    static NEUTRA_INLINE V slope(V o, V t) { return 1 - t / (o + e); }
  };
};

}  // namespace
}  // namespace neutra::training::losses
