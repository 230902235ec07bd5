#pragma once

#include "training/fused/kernels/simd.h"

namespace neutra::training::fused {
namespace {

/// Batch normalisation over the rows of columns.
template <typename T, int W>
struct BatchNormalization : Simd<T, W> {
  using Base = Simd<T, W>;
  using Base::horizontal, Base::lane_sum, Base::load, Base::masked, Base::root, Base::store,
      Base::valid, Base::vectors, Base::zero;
  using typename Base::M, typename Base::V;

  static void normalise(std::size_t features, const T* x, const T* gamma, const T* beta, T epsilon,
                        T* mean, T* variance, T* scale, T* xhat, T* y, Lanes lanes) {
    const std::size_t n = vectors(lanes);
    const T count = static_cast<T>(lanes.rows);
    for (std::size_t f = 0; f < features; ++f) {
      const T* from = x + f * lanes.stride;
      const T m = horizontal(lane_sum(from, lanes)) / count;
      V squares = zero();
      for (std::size_t v = 0; v < n; ++v) {
        const V d = masked(load(from + v * W) - m, valid(lanes, v));
        squares += d * d;
      }
      mean[f] = m;
      variance[f] = horizontal(squares) / count;
      scale[f] = 1 / root(variance[f] + epsilon);
      const T g = gamma ? gamma[f] : T(1), s = beta ? beta[f] : T(0);
      for (std::size_t b = f * lanes.stride; b < (f + 1) * lanes.stride; b += W) {
        const V hat = (load(x + b) - m) * scale[f];
        store(xhat + b, hat);
        store(y + b, g * hat + s);
      }
    }
  }
  static void apply_scale(std::size_t features, const T* x, const T* gamma, const T* beta,
                          const T* mean, const T* scale, T* y, Lanes lanes) {
    for (std::size_t f = 0; f < features; ++f) {
      const T g = (gamma ? gamma[f] : T(1)) * scale[f], s = beta ? beta[f] : T(0), m = mean[f];
      for (std::size_t b = f * lanes.stride; b < (f + 1) * lanes.stride; b += W) {
        store(y + b, (load(x + b) - m) * g + s);
      }
    }
  }
  static void differentiate_normalise(std::size_t features, const T* xhat, const T* gamma,
                                      const T* scale, T* dgamma, T* dbeta, T* dy, Lanes lanes) {
    const T share = T(1) / static_cast<T>(lanes.rows);
    for (std::size_t f = 0; f < features; ++f) {
      const T *hat = xhat + f * lanes.stride, *gradient = dy + f * lanes.stride;
      V along = zero();
      for (std::size_t v = 0; v < vectors(lanes); ++v) {
        const M mask = valid(lanes, v);
        along += masked(load(hat + v * W), mask) * masked(load(gradient + v * W), mask);
      }
      const T sum = horizontal(lane_sum(gradient, lanes)), dot = horizontal(along);
      if (dgamma) dgamma[f] = dot;
      if (dbeta) dbeta[f] = sum;
      const T g = (gamma ? gamma[f] : T(1)) * scale[f];
      for (std::size_t b = 0; b < lanes.stride; b += W) {
        T* to = dy + f * lanes.stride + b;
        store(to, g * (load(to) - share * sum - load(hat + b) * (share * dot)));
      }
    }
  }
};

}  // namespace
}  // namespace neutra::training::fused
