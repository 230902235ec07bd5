#pragma once

#include <cstddef>
#include <cstdint>

#include "training/inline.h"
#include "training/losses/loss_function.h"

/// The losses of tf.keras 2.4 (losses.py, backend.py), one header each: the formula of the loss and
/// of its gradient, for both back ends. A new one gets a header here, a row in list.h, a name in
/// loss_function.h and a case in fused/kernels/losses.h. tests/training compares the two back ends.
///
/// Eager: values(output, target) gives the loss of each row of elements; `Tensor` is at::Tensor, a
/// template parameter so that no header here needs LibTorch, whose functions it finds by its
/// arguments. gradient(output, target) is that of the mean of values() by the output, where it has
/// a closed form; autograd differentiates values() otherwise.
///
/// Fused: Element<K> has the value of one pair of an output and a target, and its slope by the
/// output, for losses that are a mean over features; Row<K> has row(), the value of a whole row,
/// for others. `K` is Simd (fused/kernels/simd.h): all rows of a vector at once. These headers are
/// compiled for several instruction sets: everything has internal linkage and calls nothing inline
/// of the standard library.
namespace neutra::training::losses {
namespace {

/// Is a loss a mean over features?
template <typename Loss>
constexpr bool kPointwise = requires {
  typename Loss::template Element<void>;
};

constexpr double kEpsilon = 1e-7;  ///< keras.backend.epsilon()

/// tf.clip_by_value: gradient 1 in [low, high], where LibTorch's clamp has 1 or, of 2.15, 0 at the
/// ends; none outside, nor for NaN.
template <typename Tensor>
Tensor clip_by_value(const Tensor& x, double low, double high) {
  return where((x >= low).logical_and(x <= high), x, clamp(x.detach(), low, high));
}

template <typename Tensor>
Tensor clipped(const Tensor& p) {
  return clip_by_value(p, kEpsilon, 1 - kEpsilon);
}

/// max(x, 0) with TensorFlow's gradient, which is 1 at 0.
template <typename Tensor>
Tensor positive_part(const Tensor& x) {
  return where(x >= 0, x, clamp_min(x.detach(), 0));
}

/// TensorFlow's sign: that of NaN is NaN.
template <typename Tensor>
Tensor tensorflow_sign(const Tensor& x) {
  return where(x.isnan(), x, x.sign());
}

/// Rows of outputs `x` and targets `y` in columns (fused/kernels.h), all `features` wide but the
/// class indices of sparse losses, which are 1 wide.
template <typename K>
struct LossInput {
  using T = typename K::T;
  using V = typename K::V;
  std::size_t features, stride, rows;
  const T *x, *y;
  T* dx;            ///< gets the gradient; null: nobody wants it
  bool with_value;  ///< does anybody want the loss?
  T share;          ///< of a row in the mean: 1 / rows

  /// Feature f of the rows that begin with row b.
  NEUTRA_INLINE V output(std::size_t f, std::size_t b) const { return K::load(x + f * stride + b); }
  NEUTRA_INLINE V target(std::size_t f, std::size_t b) const { return K::load(y + f * stride + b); }
  /// Precondition of both: dx isn't null.
  NEUTRA_INLINE V gradient(std::size_t f, std::size_t b) const {
    return K::load(dx + f * stride + b);
  }
  NEUTRA_INLINE void set_gradient(std::size_t f, std::size_t b, V value) const {
    K::store(dx + f * stride + b, value);
  }
};

}  // namespace
}  // namespace neutra::training::losses
