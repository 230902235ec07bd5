#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "training/fused/kernels.h"
#include "training/inline.h"

#if defined(__x86_64__) && defined(__GLIBC__)
/// glibc's libmvec: at most 4 ulp, special values as in the scalar functions.
#define NEUTRA_LIBMVEC 1
#include <immintrin.h>
#define NEUTRA_MVEC(prefix, type)      \
  extern "C" {                         \
  type prefix##_expf(type) noexcept;   \
  type prefix##_logf(type) noexcept;   \
  type prefix##_tanhf(type) noexcept;  \
  type prefix##_erff(type) noexcept;   \
  type prefix##_log1pf(type) noexcept; \
  type prefix##_expm1f(type) noexcept; \
  }
NEUTRA_MVEC(_ZGVbN4v, __m128)
#ifdef __AVX2__
NEUTRA_MVEC(_ZGVdN8v, __m256)
#endif
#ifdef __AVX512F__
NEUTRA_MVEC(_ZGVeN16v, __m512)
#endif
#undef NEUTRA_MVEC
#endif

namespace neutra::training::fused {
namespace {

/// Vectors of W scalars T, and what kernels do with them. Everything here and in the other headers
/// of this folder has internal linkage and calls nothing inline of the standard library, so that no
/// function compiled for a newer processor can end up in code for an older one.
template <typename Scalar, int W>
struct Simd {
  using T = Scalar;
  /// Values, and what comparisons of them give: all bits or none.
  typedef T V __attribute__((vector_size(W * sizeof(T)), may_alias));
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef Int M __attribute__((vector_size(W * sizeof(T)), may_alias));
  static constexpr std::size_t kWidth = W;

  /// At multiples of the vector's size; load_any() and store_any() at any address.
  static NEUTRA_INLINE V load(const T* p) { return *reinterpret_cast<const V*>(p); }
  static NEUTRA_INLINE void store(T* p, V v) { *reinterpret_cast<V*>(p) = v; }
  typedef T Anywhere __attribute__((vector_size(W * sizeof(T)), may_alias, aligned(sizeof(T))));
  static NEUTRA_INLINE V load_any(const T* p) { return *reinterpret_cast<const Anywhere*>(p); }
  static NEUTRA_INLINE void store_any(T* p, V v) { *reinterpret_cast<Anywhere*>(p) = v; }
  /// At any address; the first `count` lanes, the others 0.
  static NEUTRA_INLINE V load_part(const T* p, std::size_t count) {
#ifdef __AVX512F__
    if constexpr (sizeof(T) == 4 && W == 16) {
      return (V)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
    }
#endif
#ifdef __AVX2__
    if constexpr (sizeof(T) == 4 && W == 8) {
      const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane);
      return (V)_mm256_maskload_ps(p, mask);
    }
#endif
    V v = zero();
    for (std::size_t i = 0; i < count; ++i) v[i] = p[i];
    return v;
  }
  /// At any address; the first `count` lanes.
  static NEUTRA_INLINE void store_part(T* p, V v, std::size_t count) {
#ifdef __AVX512F__
    if constexpr (sizeof(T) == 4 && W == 16) {
      return _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), (__m512)v);
    }
#endif
#ifdef __AVX2__
    if constexpr (sizeof(T) == 4 && W == 8) {
      const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane);
      return _mm256_maskstore_ps(p, mask, (__m256)v);
    }
#endif
    for (std::size_t i = 0; i < count; ++i) p[i] = v[i];
  }
  /// Not V{} + value, which is an addition (of -0).
  static NEUTRA_INLINE V all(T value) { return value - V{}; }
  static NEUTRA_INLINE V zero() { return V{}; }
  static NEUTRA_INLINE V max(V a, V b) { return a > b ? a : b; }  ///< b where either is NaN
  static NEUTRA_INLINE V abs(V x) { return x < 0 ? -x : x; }
  /// -1, 0, 1; NaN for NaN, as TensorFlow has it.
  static NEUTRA_INLINE V sign(V x) { return x > 0 ? all(1) : x < 0 ? all(-1) : x; }
  /// Cut to whole numbers.
  static NEUTRA_INLINE V whole(V x) {
    return __builtin_convertvector(__builtin_convertvector(x, M), V);
  }
  static NEUTRA_INLINE float root(float x) { return __builtin_sqrtf(x); }
  static NEUTRA_INLINE double root(double x) { return __builtin_sqrt(x); }
  static NEUTRA_INLINE V sqrt(V x) {
    V y;
    for (int i = 0; i < W; ++i) y[i] = root(x[i]);
    return y;
  }

#ifdef NEUTRA_LIBMVEC
#ifdef __AVX512F__
#define NEUTRA_MVEC16(name) \
  if constexpr (sizeof(T) == 4 && W == 16) return (V)_ZGVeN16v_##name##f((__m512)x);
#else
#define NEUTRA_MVEC16(name)
#endif
#ifdef __AVX2__
#define NEUTRA_MVEC8(name) \
  if constexpr (sizeof(T) == 4 && W == 8) return (V)_ZGVdN8v_##name##f((__m256)x);
#else
#define NEUTRA_MVEC8(name)
#endif
#define NEUTRA_MVEC4(name) \
  if constexpr (sizeof(T) == 4 && W == 4) return (V)_ZGVbN4v_##name##f((__m128)x);
#else
#define NEUTRA_MVEC16(name)
#define NEUTRA_MVEC8(name)
#define NEUTRA_MVEC4(name)
#endif
#define NEUTRA_MATH(name)                                                                 \
  static NEUTRA_INLINE V name(V x) {                                                      \
    NEUTRA_MVEC16(name)                                                                   \
    NEUTRA_MVEC8(name)                                                                    \
    NEUTRA_MVEC4(name)                                                                    \
    V y;                                                                                  \
    for (int i = 0; i < W; ++i) y[i] = static_cast<T>(::name(static_cast<double>(x[i]))); \
    return y;                                                                             \
  }
  NEUTRA_MATH(exp)
  NEUTRA_MATH(log)
  NEUTRA_MATH(tanh)
  NEUTRA_MATH(erf)
  NEUTRA_MATH(log1p)
  NEUTRA_MATH(expm1)
#undef NEUTRA_MATH
#undef NEUTRA_MVEC16
#undef NEUTRA_MVEC8
#undef NEUTRA_MVEC4

  static NEUTRA_INLINE V sigmoid(V x) { return 1 / (1 + exp(-x)); }

  // Rows and lanes.

  static NEUTRA_INLINE std::size_t vectors(Lanes lanes) { return (lanes.rows + W - 1) / W; }
  /// All ones in the lanes of vector `index` that hold rows.
  static NEUTRA_INLINE M valid(Lanes lanes, std::size_t index) {
    M lane;
    for (int i = 0; i < W; ++i) lane[i] = static_cast<Int>(i);
    return lane < static_cast<Int>(lanes.rows - index * W);
  }
  /// 0 in the lanes whose mask is 0.
  static NEUTRA_INLINE V masked(V x, M mask) { return (V)((M)x & mask); }

  /// The sum over the lanes, from the first to the last.
  static NEUTRA_INLINE T horizontal(V x) {
    T sum = 0;
    for (int i = 0; i < W; ++i) sum += x[i];
    return sum;
  }
  static NEUTRA_INLINE double horizontal_double(V x) {
    double sum = 0;
    for (int i = 0; i < W; ++i) sum += static_cast<double>(x[i]);
    return sum;
  }

  /// Adds pairs of lanes of `a` and `b`, each of which holds sums of K vectors side by side (lane l
  /// belongs to vector l % K), into one that holds sums of 2 K.
  template <int K, std::size_t... L>
  static NEUTRA_INLINE V merge(V a, V b, std::index_sequence<L...>) {
    constexpr auto from = [](int lane, int half) {
      return (lane / K % 2) * W + (2 * (lane / (2 * K)) + half) * K + lane % K;
    };
    return __builtin_shufflevector(a, b, from(static_cast<int>(L), 0)...) +
           __builtin_shufflevector(a, b, from(static_cast<int>(L), 1)...);
  }
  /// Exchanges the lanes of `a` and `b` whose bit K differs from theirs.
  template <int K, std::size_t... L>
  static NEUTRA_INLINE void exchange(V& a, V& b, std::index_sequence<L...>) {
    const V low = __builtin_shufflevector(a, b, (L & K ? L - K + W : L)...);
    b = __builtin_shufflevector(a, b, (L & K ? L + W : L + K)...);
    a = low;
  }
  /// Transposes a square of W vectors.
  template <int K = 1>
  static NEUTRA_INLINE void transpose(V* v) {
    if constexpr (K < W) {
      for (int i = 0; i < W; ++i) {
        if ((i & K) == 0) exchange<K>(v[i], v[i + K], std::make_index_sequence<W>());
      }
      transpose<2 * K>(v);
    }
  }
  /// The sum over the lanes of each of W vectors.
  template <int K = 1>
  static NEUTRA_INLINE V sums(V* v) {
    if constexpr (K == W) {
      return v[0];
    } else {
      for (int i = 0; i < W / K / 2; ++i) {
        v[i] = merge<K>(v[2 * i], v[2 * i + 1], std::make_index_sequence<W>());
      }
      return sums<2 * K>(v);
    }
  }

  /// For each lane, the sum over the vectors of a column.
  static NEUTRA_INLINE V lane_sum(const T* x, Lanes lanes) {
    V sum = zero();
    const std::size_t whole = lanes.rows / W;
    for (std::size_t v = 0; v < whole; ++v) sum += load(x + v * W);
    if (whole * W < lanes.rows) sum += masked(load(x + whole * W), valid(lanes, whole));
    return sum;
  }

  // Loops.

  template <typename F>
  static NEUTRA_INLINE void map(std::size_t count, const T* x, T* y, F f) {
    for (std::size_t i = 0; i < count; i += W) store(y + i, f(load(x + i)));
  }
  template <typename F>
  static NEUTRA_INLINE void map(std::size_t count, const T* a, const T* b, T* y, F f) {
    for (std::size_t i = 0; i < count; i += W) store(y + i, f(load(a + i), load(b + i)));
  }

  static NEUTRA_INLINE V clip(V x, T low, T high) {
    return x < low ? all(low) : x > high ? all(high) : x;
  }
  /// The slope of something clipped: 0 outside and for NaN, whatever `slope` is there.
  static NEUTRA_INLINE V within(V x, T low, T high, V slope) {
    const M inside = (x >= low) & (x <= high);
    return inside ? slope : zero();
  }
};

}  // namespace
}  // namespace neutra::training::fused
