#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// -sum of the products of y / |y| and o / |o|.
struct CosineSimilarity {
  static constexpr LossFunction kFunction = LossFunction::kCosineSimilarity;

  /// x / |x| along the last axis, with TensorFlow's floor of 1e-12 on the square.
  template <typename Tensor>
  static Tensor unit(const Tensor& x) {
    return x * rsqrt(clamp_min((x * x).sum(-1, true), 1e-12));
  }
  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return -(unit(y) * unit(o)).sum(-1);
  }

  template <typename K>
  struct Row {
    using V = typename K::V;
    using T = typename K::T;
    static NEUTRA_INLINE V row(const LossInput<K>& r, std::size_t b) {
      V xx = K::zero(), yy = K::zero(), xy = K::zero();
      for (std::size_t f = 0; f < r.features; ++f) {
        xx += r.output(f, b) * r.output(f, b);
        yy += r.target(f, b) * r.target(f, b);
        xy += r.output(f, b) * r.target(f, b);
      }
      const T floor = T(1e-12);
      const V x_scale = 1 / K::sqrt(xx < floor ? K::all(floor) : xx);
      const V y_scale = 1 / K::sqrt(yy < floor ? K::all(floor) : yy);
      const V cosine = xy * x_scale * y_scale;
      // Below the floor the length is a constant.
      const V along = cosine * x_scale * (xx >= floor ? K::all(1) : K::zero());
      if (r.dx) {
        for (std::size_t f = 0; f < r.features; ++f) {
          const V d = r.target(f, b) * y_scale - r.output(f, b) * along;
          r.set_gradient(f, b, -r.share * x_scale * d);
        }
      }
      return -cosine;
    }
  };
};

}  // namespace
}  // namespace neutra::training::losses
