#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// -sum of t log softmax(x). `kSparse`: the target is a class index, whose t is 1, all others 0.
template <typename K, bool kSparse>
struct SoftmaxRow {
  using V = typename K::V;
  using T = typename K::T;
  static NEUTRA_INLINE V row(const LossInput<K>& r, std::size_t b) {
    V top = r.output(0, b);
    for (std::size_t f = 1; f < r.features; ++f) {
      top = r.output(f, b) > top ? r.output(f, b) : top;
    }
    V sum = K::zero();
    for (std::size_t f = 0; f < r.features; ++f) {
      const V e = K::exp(r.output(f, b) - top);
      sum += e;
      if (r.dx) r.set_gradient(f, b, e);
    }
    V value = K::zero();
    const V logarithm = r.with_value ? K::log(sum) : K::zero();
    for (std::size_t f = 0; f < r.features; ++f) {
      V t;
      if constexpr (kSparse) {
        t = K::whole(K::load(r.y + b)) == static_cast<T>(f) ? K::all(1) : K::zero();
      } else {
        t = r.target(f, b);
      }
      if (r.with_value) {
        const V term = r.output(f, b) - top - logarithm;
        // Sparse: the others don't count even where they are infinite.
        value -= kSparse ? (t > 0 ? term : K::zero()) : t * term;
      }
      if (r.dx) r.set_gradient(f, b, r.share * (r.gradient(f, b) / sum - t));
    }
    return value;
  }
};

}  // namespace
}  // namespace neutra::training::losses
