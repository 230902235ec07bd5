#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Mean of -(y log(p + eps) + (1 - y) log(1 - p + eps)), with outputs p clipped to [eps, 1 - eps].
struct BinaryCrossentropy {
  static constexpr LossFunction kFunction = LossFunction::kBinaryCrossentropy;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    const Tensor p = clipped(o);
    return -(y * log(p + kEpsilon) + (1 - y) * log(1 - p + kEpsilon)).mean(-1);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static constexpr auto e = static_cast<typename K::T>(kEpsilon);
    static NEUTRA_INLINE V value(V o, V t) {
      const V p = K::clip(o, e, 1 - e);
      return -(t * K::log(p + e) + (1 - t) * K::log(1 - p + e));
    }
    static NEUTRA_INLINE V slope(V o, V t) {
      const V p = K::clip(o, e, 1 - e);
      return K::within(o, e, 1 - e, (1 - t) / (1 - p + e) - t / (p + e));
    }
  };
};

/// Of the sigmoid's input z: mean of max(z, 0) - z y + log(1 + exp(-|z|)).
struct SigmoidCrossentropy {
  static constexpr LossFunction kFunction = LossFunction::kSigmoidCrossentropy;

  template <typename Tensor>
  static Tensor values(const Tensor& z, const Tensor& y) {
    return (clamp_min(z, 0) - z * y + log1p(exp(-z.abs()))).mean(-1);
  }
  template <typename Tensor>
  static Tensor gradient(const Tensor& z, const Tensor& y) {
    return sigmoid(z).sub_(y).div_(z.numel());
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static NEUTRA_INLINE V value(V z, V t) {
      return (z < 0 ? K::zero() : z) - z * t + K::log1p(K::exp(-K::abs(z)));
    }
    static NEUTRA_INLINE V slope(V z, V t) { return K::sigmoid(z) - t; }
  };
};

/// Keras 2.2.4's: of the logits of clipped outputs.
struct BinaryCrossentropyOfClipped {
  static constexpr LossFunction kFunction = LossFunction::kBinaryCrossentropyOfClipped;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    const Tensor p = clipped(o);
    return SigmoidCrossentropy::values<Tensor>(log(p / (1 - p)), y);
  }
  template <typename Tensor>
  static Tensor gradient(const Tensor& o, const Tensor& y) {
    const Tensor p = clipped(o);
    const Tensor slope = (p - y) / (p * (1 - p)) / o.numel();
    const Tensor inside = (o >= kEpsilon).logical_and(o <= 1 - kEpsilon);
    return where(inside, slope, zeros_like(slope));
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    static constexpr auto e = static_cast<typename K::T>(kEpsilon);
    static NEUTRA_INLINE V value(V o, V t) {
      const V p = K::clip(o, e, 1 - e), z = K::log(p / (1 - p));
      return (z < 0 ? K::zero() : z) - z * t + K::log1p(K::exp(-K::abs(z)));
    }
    static NEUTRA_INLINE V slope(V o, V t) {
      const V p = K::clip(o, e, 1 - e);
      return K::within(o, e, 1 - e, (p - t) / (p * (1 - p)));
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
