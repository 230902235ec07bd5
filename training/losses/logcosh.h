#pragma once

#include <cmath>

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of log(cosh(o - y)).
struct LogCosh {
  static constexpr LossFunction kFunction = LossFunction::kLogCosh;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    const Tensor d = o - y;
    return (d + softplus(-2 * d) - std::log(2.0)).mean(-1);
  }
  /// The sum's own gradient, 1 - 2 sigmoid(-2d), has few digits near 0.
  template <typename Tensor>
  static Tensor gradient(const Tensor& o, const Tensor& y) {
    return tanh(o - y).div_(static_cast<double>(o.numel()));
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    using T = typename K::T;
    static NEUTRA_INLINE V value(V o, V t) {
      const V d = o - t, z = -2 * d;
      return d + (z > 20 ? z : K::log1p(K::exp(z))) - T(0.69314718055994531);
    }
    static NEUTRA_INLINE V slope(V o, V t) { return K::tanh(o - t); }
  };
};

}  // namespace
}  // namespace neutra::training::losses
