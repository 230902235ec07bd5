#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// max(max over features of (1 - y) o - sum of y o + 1, 0). Ties share the gradient of the largest.
struct CategoricalHinge {
  static constexpr LossFunction kFunction = LossFunction::kCategoricalHinge;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    // amax shares its gradient among ties, as reduce_max does.
    return positive_part(amax((1 - y) * o, -1) - (y * o).sum(-1) + 1);
  }

  template <typename K>
  struct Row {
    using V = typename K::V;
    static NEUTRA_INLINE V row(const LossInput<K>& r, std::size_t b) {
      V positive = K::zero(), negative = (1 - r.target(0, b)) * r.output(0, b), ties = K::zero();
      for (std::size_t f = 0; f < r.features; ++f) {
        const V n = (1 - r.target(f, b)) * r.output(f, b);
        positive += r.target(f, b) * r.output(f, b);
        negative = n > negative ? n : n == n ? negative : n;
      }
      for (std::size_t f = 0; f < r.features; ++f) {
        ties += (1 - r.target(f, b)) * r.output(f, b) == negative ? K::all(1) : K::zero();
      }
      const V margin = negative - positive + 1;
      const V active = margin >= 0 ? K::all(r.share) : K::zero();
      if (r.dx) {
        for (std::size_t f = 0; f < r.features; ++f) {
          const V other = 1 - r.target(f, b);
          const V largest = (other * r.output(f, b) == negative ? other : K::zero()) / ties;
          r.set_gradient(f, b, active * (largest - r.target(f, b)));
        }
      }
      return margin < 0 ? K::zero() : margin;
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
