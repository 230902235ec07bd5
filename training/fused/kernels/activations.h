#pragma once

#include "training/fused/kernels/simd.h"

namespace neutra::training::fused {
namespace {

/// Activations of training/activations.cpp and their gradients.
template <typename T, int W>
struct Activations : Simd<T, W> {
  using Base = Simd<T, W>;
  using Base::abs, Base::all, Base::erf, Base::exp, Base::expm1, Base::load, Base::log1p, Base::map,
      Base::sigmoid, Base::sign, Base::store, Base::tanh, Base::zero;
  using typename Base::M, typename Base::V;

  static constexpr T kSeluScale = T(1.0507009873554805), kSeluAlpha = T(1.6732632423543772);
  static constexpr T kInverseRoot2 = T(0.70710678118654752), kDensity = T(0.39894228040143268);
  /// The least x whose tanh rounds to 1.
  static constexpr T kTanhIsOne = T(sizeof(T) == 4 ? 9.0109133 : 19.0615475);

  static void activate(const Activation& f, std::size_t count, const T* x, T* y) {
    const T a = static_cast<T>(f.a), b = static_cast<T>(f.b), c = static_cast<T>(f.c);
    switch (f.function) {
      case Function::kRelu:
        return map(count, x, y, [](V z) { return z < 0 ? zero() : z; });
      case Function::kElu:
        return map(count, x, y, [a](V z) { return z > 0 ? z : a * expm1(z > 0 ? zero() : z); });
      case Function::kSelu:
        return map(count, x, y, [](V z) {
          return z < 0 ? kSeluScale * kSeluAlpha * expm1(z < 0 ? z : zero()) : kSeluScale * z;
        });
      case Function::kSoftplus:
        return map(count, x, y, [](V z) { return z > 20 ? z : log1p(exp(z)); });
      case Function::kSoftsign:
        return map(count, x, y, [](V z) { return z / (abs(z) + 1); });
      case Function::kSwish:
        return map(count, x, y, [](V z) { return z * sigmoid(z); });
      case Function::kGelu:
        return map(count, x, y, [](V z) { return T(0.5) * z * (1 + erf(z * kInverseRoot2)); });
      case Function::kTanh:
        // libmvec's may miss 1 by an ulp, and the slope 1 - y^2 with it.
        return map(count, x, y, [](V z) { return abs(z) > kTanhIsOne ? sign(z) : tanh(z); });
      case Function::kSigmoid:
        return map(count, x, y, [](V z) { return sigmoid(z); });
      case Function::kExponential:
        return map(count, x, y, [](V z) { return exp(z); });
      case Function::kHardSigmoid:
        return map(count, x, y, [](V z) {
          const V t = z * T(0.2) + T(0.5);
          return t < 0 ? zero() : t > 1 ? all(1) : t;
        });
      case Function::kLeakyRelu:
        return map(count, x, y, [a](V z) { return z > 0 ? z : z * a; });
      case Function::kGeneralRelu:
        return map(count, x, y, [a, b, c](V z) {
          V t = b != 0 ? z * (z > b ? all(1) : zero()) : z < 0 ? zero() : z;
          t = t < 0 ? zero() : t > c ? all(c) : t;
          if (a != 0) {
            const V under = b != 0 ? b - z : -z;
            t -= a * (under < 0 ? zero() : under);
          }
          return t;
        });
      case Function::kLinear:
      case Function::kSoftmax:
        return;
    }
  }

  static void differentiate(const Activation& f, std::size_t count, const T* saved, T* dy) {
    const T a = static_cast<T>(f.a), b = static_cast<T>(f.b), c = static_cast<T>(f.c);
    switch (f.function) {
      case Function::kRelu:
        return map(count, saved, dy, dy, [](V y, V g) { return g * (y > 0 ? all(1) : zero()); });
      case Function::kElu:
        return map(count, saved, dy, dy, [a](V y, V g) { return y <= 0 ? (y + a) * g : g; });
      case Function::kSelu:
        return map(count, saved, dy, dy, [](V y, V g) {
          return y < 0 ? (y + kSeluScale * kSeluAlpha) * g : kSeluScale * g;
        });
      case Function::kSoftplus:
        return map(count, saved, dy, dy, [](V z, V g) { return z > 20 ? g : g * sigmoid(z); });
      case Function::kSoftsign:
        return map(count, saved, dy, dy, [](V z, V g) {
          const V d = abs(z) + 1;
          return g / (d * d);
        });
      case Function::kSwish:
        return map(count, saved, dy, dy, [](V z, V g) {
          const V s = sigmoid(z);
          return g * (s * (1 + z * (1 - s)));
        });
      case Function::kGelu:
        return map(count, saved, dy, dy, [](V z, V g) {
          const V cdf = T(0.5) * (1 + erf(z * kInverseRoot2));
          return g * (cdf + z * (kDensity * exp(T(-0.5) * z * z)));
        });
      case Function::kTanh:
        return map(count, saved, dy, dy, [](V y, V g) { return g * (1 - y * y); });
      case Function::kSigmoid:
        return map(count, saved, dy, dy, [](V y, V g) { return g * ((1 - y) * y); });
      case Function::kExponential:
        return map(count, saved, dy, dy, [](V y, V g) { return g * y; });
      case Function::kHardSigmoid:
        return map(count, saved, dy, dy, [](V z, V g) {
          const M inside = (z >= T(-2.5)) & (z <= T(2.5));
          return inside ? g * T(0.2) : zero();
        });
      case Function::kLeakyRelu:
        return map(count, saved, dy, dy, [a](V z, V g) { return z > 0 ? g : g * a; });
      case Function::kGeneralRelu:
        return map(count, saved, dy, dy, [a, b, c](V z, V g) {
          const V above = z > b ? all(1) : zero();
          const V t = b != 0 ? z * above : z < 0 ? zero() : z;
          const M inside = (t >= 0) & (t <= c);
          V d = (inside ? g : zero()) * above;
          if (a != 0) d += (a * g) * ((b != 0 ? b - z : -z) > 0 ? all(1) : zero());
          return d;
        });
      case Function::kLinear:
      case Function::kSoftmax:
        return;
    }
  }

  static void softmax(std::size_t features, const T* x, T* y, Lanes lanes) {
    for (std::size_t b = 0; b < lanes.stride; b += W) {
      V top = load(x + b);
      for (std::size_t f = 1; f < features; ++f) {
        const V z = load(x + f * lanes.stride + b);
        top = z > top ? z : top;
      }
      V sum = zero();
      for (std::size_t f = 0; f < features; ++f) {
        const V e = exp(load(x + f * lanes.stride + b) - top);
        store(y + f * lanes.stride + b, e);
        sum += e;
      }
      for (std::size_t f = 0; f < features; ++f) {
        T* at = y + f * lanes.stride + b;
        store(at, load(at) / sum);
      }
    }
  }
  static void differentiate_softmax(std::size_t features, const T* y, T* dy, Lanes lanes) {
    for (std::size_t b = 0; b < lanes.stride; b += W) {
      V dot = zero();
      for (std::size_t f = 0; f < features; ++f) {
        dot += load(y + f * lanes.stride + b) * load(dy + f * lanes.stride + b);
      }
      for (std::size_t f = 0; f < features; ++f) {
        T* at = dy + f * lanes.stride + b;
        store(at, load(y + f * lanes.stride + b) * (load(at) - dot));
      }
    }
  }
};

}  // namespace
}  // namespace neutra::training::fused
