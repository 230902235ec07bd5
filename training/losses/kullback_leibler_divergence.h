#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Sum of t log(t / p), with outputs p and targets t clipped to [eps, 1].
struct KullbackLeiblerDivergence {
  static constexpr LossFunction kFunction = LossFunction::kKullbackLeibler;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    const Tensor t = clamp(y, kEpsilon, 1);
    return (t * log(t / clip_by_value(o, kEpsilon, 1))).sum(-1);
  }

  template <typename K>
  struct Row {
    using V = typename K::V;
    static NEUTRA_INLINE V row(const LossInput<K>& r, std::size_t b) {
      constexpr auto e = static_cast<typename K::T>(kEpsilon);
      V sum = K::zero();
      for (std::size_t f = 0; f < r.features; ++f) {
        const V o = r.output(f, b), p = K::clip(o, e, 1), t = K::clip(r.target(f, b), e, 1);
        if (r.with_value) sum += t * K::log(t / p);
        if (r.dx) r.set_gradient(f, b, K::within(o, e, 1, -r.share * t / p));
      }
      return sum;
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
