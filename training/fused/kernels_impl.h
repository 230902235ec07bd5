#pragma once

/// The kernels themselves, for scalars T in vectors of W lanes. Included by one file for each
/// instruction set (compiled with its flags) and, for double, by the tests. Everything has internal
/// linkage and calls nothing inline of the standard library, so that no function compiled for a
/// newer processor can end up in code for an older one.

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "training/fused/kernels.h"

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

#define NEUTRA_INLINE inline __attribute__((always_inline))

template <typename T, int W>
struct KernelsOf {
  typedef T V __attribute__((vector_size(W * sizeof(T)), may_alias));
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef Int M __attribute__((vector_size(W * sizeof(T)), may_alias));
  static constexpr std::size_t kWidth = W;

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
  static NEUTRA_INLINE V masked(V x, M mask) { return (V)((M)x & mask); }

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

  // Products.

  /// kRows x kVectors of the result stay in registers: 16 of them with AVX2, 32 with AVX-512.
  static constexpr int kRows = 6, kVectors = W * sizeof(T) >= 64 ? 4 : 2;

  template <int R, int C>
  static NEUTRA_INLINE void product_tile(std::size_t depth, const T* a, std::size_t step_m,
                                         std::size_t step_k, const T* start, const T* x, T* y,
                                         std::size_t stride) {
    V sum[R][C];
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) sum[r][c] = all(start ? start[r] : T(0));
    }
    for (std::size_t k = 0; k < depth; ++k) {
      V from[C];
      for (int c = 0; c < C; ++c) from[c] = load(x + k * stride + c * W);
      for (int r = 0; r < R; ++r) {
        const V weight = all(a[r * step_m + k * step_k]);
        for (int c = 0; c < C; ++c) sum[r][c] += weight * from[c];
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) store(y + r * stride + c * W, sum[r][c]);
    }
  }
  template <int C>
  static void product_columns(std::size_t count, std::size_t depth, const T* a, std::size_t step_m,
                              std::size_t step_k, const T* start, const T* x, T* y,
                              std::size_t stride) {
    std::size_t m = 0;
    for (; m + kRows <= count; m += kRows) {
      product_tile<kRows, C>(depth, a + m * step_m, step_m, step_k, start ? start + m : nullptr, x,
                             y + m * stride, stride);
    }
    a += m * step_m;
    y += m * stride;
    if (start) start += m;
    switch (count - m) {
      case 5:
        return product_tile<5, C>(depth, a, step_m, step_k, start, x, y, stride);
      case 4:
        return product_tile<4, C>(depth, a, step_m, step_k, start, x, y, stride);
      case 3:
        return product_tile<3, C>(depth, a, step_m, step_k, start, x, y, stride);
      case 2:
        return product_tile<2, C>(depth, a, step_m, step_k, start, x, y, stride);
      case 1:
        return product_tile<1, C>(depth, a, step_m, step_k, start, x, y, stride);
      default:
        return;
    }
  }
  static void product(std::size_t count, std::size_t depth, const T* a, std::size_t step_m,
                      std::size_t step_k, const T* start, const T* x, T* y, Lanes lanes) {
    const std::size_t n = vectors(lanes);
    std::size_t c = 0;
    for (; c + kVectors <= n; c += kVectors) {
      product_columns<kVectors>(count, depth, a, step_m, step_k, start, x + c * W, y + c * W,
                                lanes.stride);
    }
    if constexpr (kVectors > 2) {
      for (; c + 2 <= n; c += 2) {
        product_columns<2>(count, depth, a, step_m, step_k, start, x + c * W, y + c * W,
                           lanes.stride);
      }
    }
    for (; c < n; ++c) {
      product_columns<1>(count, depth, a, step_m, step_k, start, x + c * W, y + c * W,
                         lanes.stride);
    }
  }

  /// I x O sums, I * O = W. Tiles past the end repeat the last feature and drop its sums.
  template <int I, int O>
  static NEUTRA_INLINE void outer_tile(std::size_t inputs, std::size_t outputs, std::size_t i,
                                       std::size_t o, const T* x, const T* dy, T* result,
                                       Lanes lanes) {
    static_assert(I * O == W);
    const std::size_t rows = inputs - i < I ? inputs - i : I;
    const std::size_t columns = outputs - o < O ? outputs - o : O;
    const T *xs[I], *dys[O];
    for (std::size_t r = 0; r < I; ++r) xs[r] = x + (i + (r < rows ? r : rows - 1)) * lanes.stride;
    for (std::size_t c = 0; c < O; ++c) {
      dys[c] = dy + (o + (c < columns ? c : columns - 1)) * lanes.stride;
    }
    V sum[W];
    for (V& s : sum) s = zero();
    const std::size_t whole = lanes.rows / W;
    for (std::size_t v = 0; v < whole; ++v) {
      V right[O];
      for (int c = 0; c < O; ++c) right[c] = load(dys[c] + v * W);
      for (int r = 0; r < I; ++r) {
        const V left = load(xs[r] + v * W);
        for (int c = 0; c < O; ++c) sum[r * O + c] += left * right[c];
      }
    }
    if (whole * W < lanes.rows) {
      const M mask = valid(lanes, whole);
      V right[O];
      for (int c = 0; c < O; ++c) right[c] = masked(load(dys[c] + whole * W), mask);
      for (int r = 0; r < I; ++r) {
        const V left = masked(load(xs[r] + whole * W), mask);
        for (int c = 0; c < O; ++c) sum[r * O + c] += left * right[c];
      }
    }
    const V total = sums(sum);
    T* to = result + i * outputs + o;
    if (columns == O) {
      if (rows == I) {
        for (int r = 0; r < I; ++r) {
          for (int c = 0; c < O; ++c) to[r * outputs + c] = total[r * O + c];
        }
        return;
      }
    }
    T values[W];
    std::memcpy(values, &total, sizeof total);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) to[r * outputs + c] = values[r * O + c];
    }
  }
  template <int I, int O>
  static NEUTRA_INLINE void outer_strip(std::size_t inputs, std::size_t outputs, std::size_t o,
                                        const T* x, const T* dy, T* result, Lanes lanes) {
    for (std::size_t i = 0; i < inputs; i += I) {
      outer_tile<I, O>(inputs, outputs, i, o, x, dy, result, lanes);
    }
  }
  /// Vectors of rows, added up across their lanes at the end.
  static void outer_by_rows(std::size_t inputs, std::size_t outputs, const T* x, const T* dy,
                            T* result, Lanes lanes) {
    std::size_t o = 0;
    if constexpr (W >= 4) {
      for (; o + 3 <= outputs; o += 4) {
        outer_strip<W / 4, 4>(inputs, outputs, o, x, dy, result, lanes);
      }
    }
    if (o < outputs && outputs - o >= 2) {
      outer_strip<W / 2, 2>(inputs, outputs, o, x, dy, result, lanes);
      o += 2;
    }
    for (; o < outputs; ++o) outer_strip<W, 1>(inputs, outputs, o, x, dy, result, lanes);
  }

  /// R inputs by C vectors of outputs; `dy` in rows of whole vectors, the last with `part` outputs.
  template <int R, int C>
  static NEUTRA_INLINE void outer_block(std::size_t rows, const T* x, std::size_t x_stride,
                                        const T* dy, std::size_t dy_stride, T* result,
                                        std::size_t outputs, std::size_t part) {
    V sum[R][C];
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) sum[r][c] = zero();
    }
    for (std::size_t b = 0; b < rows; ++b) {
      V from[C];
      for (int c = 0; c < C; ++c) from[c] = load(dy + b * dy_stride + c * W);
      for (int r = 0; r < R; ++r) {
        const V value = all(x[r * x_stride + b]);
        for (int c = 0; c < C; ++c) sum[r][c] += value * from[c];
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) {
        T* to = result + r * outputs + c * W;
        // Masked stores of whole vectors cost several times plain ones on AMD's AVX2.
        if (c + 1 < C || part == W) {
          store_any(to, sum[r][c]);
        } else {
          store_part(to, sum[r][c], part);
        }
      }
    }
  }
  template <int C>
  static void outer_columns(std::size_t inputs, std::size_t rows, const T* x, std::size_t x_stride,
                            const T* dy, std::size_t dy_stride, T* result, std::size_t outputs,
                            std::size_t part) {
    std::size_t i = 0;
    for (; i + kRows <= inputs; i += kRows) {
      outer_block<kRows, C>(rows, x + i * x_stride, x_stride, dy, dy_stride, result + i * outputs,
                            outputs, part);
    }
    const auto rest = [&]<int R>() {
      outer_block<R, C>(rows, x + i * x_stride, x_stride, dy, dy_stride, result + i * outputs,
                        outputs, part);
    };
    switch (inputs - i) {
      case 5:
        return rest.template operator()<5>();
      case 4:
        return rest.template operator()<4>();
      case 3:
        return rest.template operator()<3>();
      case 2:
        return rest.template operator()<2>();
      case 1:
        return rest.template operator()<1>();
      default:
        return;
    }
  }
  /// Vectors of outputs: `dy` is transposed into `scratch` first.
  static void outer_by_outputs(std::size_t inputs, std::size_t outputs, const T* x, const T* dy,
                               T* result, T* scratch, Lanes lanes) {
    const std::size_t width = (outputs + W - 1) / W * W;
    for (std::size_t o = 0; o < width; o += W) {
      for (std::size_t b = 0; b < lanes.rows; b += W) {
        V square[W];
        for (std::size_t i = 0; i < W; ++i) {
          square[i] = load(dy + (o + i < outputs ? o + i : outputs - 1) * lanes.stride + b);
        }
        transpose(square);
        const std::size_t count = lanes.rows - b < W ? lanes.rows - b : W;
        for (std::size_t i = 0; i < count; ++i) store(scratch + (b + i) * width + o, square[i]);
      }
    }
    for (std::size_t o = 0; o < width; o += kVectors * W) {
      const std::size_t columns = (width - o) / W;
      const std::size_t last = outputs - o < kVectors * W ? (outputs - o - 1) % W + 1 : W;
      const auto run = [&]<int C>() {
        outer_columns<C>(inputs, lanes.rows, x, lanes.stride, scratch + o, width, result + o,
                         outputs, last);
      };
      if constexpr (kVectors == 4) {
        if (columns >= 4) run.template operator()<4>();
        if (columns == 3) run.template operator()<3>();
      }
      if (columns == 2 || (kVectors == 2 && columns > 2)) run.template operator()<2>();
      if (columns == 1) run.template operator()<1>();
    }
  }

  static void outer(std::size_t inputs, std::size_t outputs, const T* x, const T* dy, T* result,
                    T* scratch, Lanes lanes) {
    // Counted in vector operations: sums by rows need about three more each for their lanes.
    const std::size_t by_rows = inputs * outputs * (vectors(lanes) + 3);
    const std::size_t by_outputs =
        (inputs + 2 * W) * lanes.rows * ((outputs + W - 1) / W) + inputs * (outputs / W);
    if (by_outputs < by_rows) {
      outer_by_outputs(inputs, outputs, x, dy, result, scratch, lanes);
    } else {
      outer_by_rows(inputs, outputs, x, dy, result, lanes);
    }
  }

  /// C vectors of one sum, the last with `part` lanes.
  template <int C, bool kPart>
  static NEUTRA_INLINE void sum_block(const RowSum& s, const std::uint32_t* indices,
                                      const T* values, const T* start, std::size_t features,
                                      const T* from, T* to, std::size_t part) {
    const auto read = [part](const T* p) { return kPart ? load_part(p, part) : load_any(p); };
    V sum[C];
    for (int c = 0; c < C; ++c) sum[c] = start ? read(start + c * W) : zero();
    for (std::size_t e = s.begin; e < s.end; ++e) {
      const T* row = from + indices[e] * features;
      const V value = all(values[e]);
      for (int c = 0; c < C; ++c) sum[c] += value * read(row + c * W);
    }
    for (int c = 0; c < C; ++c) {
      if constexpr (kPart) {
        store_part(to + c * W, sum[c], part);
      } else {
        store_any(to + c * W, sum[c]);
      }
    }
  }
  static void sum_rows(std::size_t count, const RowSum* sums, const std::uint32_t* indices,
                       const T* values, const T* start, std::size_t features, const T* from,
                       T* to) {
    // A few vectors of all sums before the next ones: rows of `from` that several sums use stay in
    // the second cache.
    std::size_t o = 0;
    const auto run = [&]<int C, bool kPart>() {
      for (const RowSum* s = sums; s != sums + count; ++s) {
        sum_block<C, kPart>(*s, indices, values, start ? start + o : nullptr, features, from + o,
                            to + s->row * features + o, features - o);
      }
      o += C * W;
    };
    while (o + 8 * W <= features) run.template operator()<8, false>();
    if (o + 4 * W <= features) run.template operator()<4, false>();
    if (o + 2 * W <= features) run.template operator()<2, false>();
    if (o + W <= features) run.template operator()<1, false>();
    if (o < features) run.template operator()<1, true>();
  }

  static NEUTRA_INLINE V lane_sum(const T* x, Lanes lanes) {
    V sum = zero();
    const std::size_t whole = lanes.rows / W;
    for (std::size_t v = 0; v < whole; ++v) sum += load(x + v * W);
    if (whole * W < lanes.rows) sum += masked(load(x + whole * W), valid(lanes, whole));
    return sum;
  }
  static void row_sums(std::size_t features, const T* x, T* result, Lanes lanes) {
    for (std::size_t f = 0; f < features; f += W) {
      const std::size_t count = features - f < W ? features - f : W;
      V sum[W];
      for (std::size_t i = 0; i < W; ++i) {
        sum[i] = lane_sum(x + (f + (i < count ? i : count - 1)) * lanes.stride, lanes);
      }
      const V total = sums(sum);
      std::memcpy(result + f, &total, count * sizeof(T));
    }
  }

  // Moving values.

  static void gather(const T* data, std::size_t features, const std::int64_t* rows, T* columns,
                     Lanes lanes) {
    for (std::size_t b = 0; b < lanes.stride; b += W) {
      const T* from[W];
      for (std::size_t i = 0; i < W; ++i) {
        const std::size_t row = b + i < lanes.rows ? b + i : lanes.rows - 1;
        from[i] = data + static_cast<std::size_t>(rows[row]) * features;
      }
      std::size_t f = 0;
      for (; f + W <= features; f += W) {
        V square[W];
        for (int i = 0; i < W; ++i) std::memcpy(&square[i], from[i] + f, sizeof(V));
        transpose(square);
        for (int i = 0; i < W; ++i) store(columns + (f + i) * lanes.stride + b, square[i]);
      }
      for (; f < features; ++f) {
        T* to = columns + f * lanes.stride + b;
        for (int i = 0; i < W; ++i) to[i] = from[i][f];
      }
    }
  }
  static void to_rows(std::size_t features, const T* columns, T* rows, Lanes lanes) {
    for (std::size_t b = 0; b < lanes.rows; ++b) {
      for (std::size_t f = 0; f < features; ++f)
        rows[b * features + f] = columns[f * lanes.stride + b];
    }
  }
  static void from_rows(std::size_t features, const T* rows, T* columns, Lanes lanes) {
    for (std::size_t b = 0; b < lanes.stride; ++b) {
      const T* from = rows + (b < lanes.rows ? b : lanes.rows - 1) * features;
      for (std::size_t f = 0; f < features; ++f) columns[f * lanes.stride + b] = from[f];
    }
  }

  // Activations.

  template <typename F>
  static NEUTRA_INLINE void map(std::size_t count, const T* x, T* y, F f) {
    for (std::size_t i = 0; i < count; i += W) store(y + i, f(load(x + i)));
  }
  template <typename F>
  static NEUTRA_INLINE void map(std::size_t count, const T* a, const T* b, T* y, F f) {
    for (std::size_t i = 0; i < count; i += W) store(y + i, f(load(a + i), load(b + i)));
  }

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

  // Losses.

  static constexpr T kEpsilon = T(1e-7);  ///< keras.backend.epsilon()
  static NEUTRA_INLINE V clip(V x, T low, T high) {
    return x < low ? all(low) : x > high ? all(high) : x;
  }
  /// The slope of something clipped: 0 outside and for NaN, whatever `slope` is there.
  static NEUTRA_INLINE V within(V x, T low, T high, V slope) {
    const M inside = (x >= low) & (x <= high);
    return inside ? slope : zero();
  }

  /// Losses that are a mean over features of a function of output and target.
  template <typename Value, typename Slope>
  static NEUTRA_INLINE double pointwise(std::size_t features, const T* x, const T* y, T* dx,
                                        bool with_value, Lanes lanes, Value value, Slope slope) {
    const T share = T(1) / static_cast<T>(lanes.rows * features);
    if (dx) {
      for (std::size_t i = 0; i < features * lanes.stride; i += W) {
        store(dx + i, slope(load(x + i), load(y + i)) * share);
      }
    }
    double total = 0;
    if (with_value) {
      for (std::size_t v = 0; v < vectors(lanes); ++v) {
        V sum = zero();
        for (std::size_t f = 0; f < features; ++f) {
          const std::size_t at = f * lanes.stride + v * W;
          sum += value(load(x + at), load(y + at));
        }
        total += horizontal_double(masked(sum, valid(lanes, v)));
      }
    }
    return total / static_cast<double>(features);
  }

  /// Losses that look at a whole row: row(b) works on vector b of each feature, writes dx times
  /// `share` and returns the row's loss.
  template <typename Row>
  static NEUTRA_INLINE double by_row(Lanes lanes, bool with_value, Row row) {
    double total = 0;
    for (std::size_t v = 0; v < vectors(lanes); ++v) {
      const V value = row(v * W);
      if (with_value) total += horizontal_double(masked(value, valid(lanes, v)));
    }
    return total;
  }

  static bool zeros_and_ones(std::size_t features, const T* y, Lanes lanes) {
    for (std::size_t f = 0; f < features; ++f) {
      for (std::size_t b = 0; b < lanes.rows; ++b) {
        const T value = y[f * lanes.stride + b];
        if (value != 0 && value != 1) return false;
      }
    }
    return true;
  }

  static double loss(LossFunction function, std::size_t features, const T* x, const T* y, T* dx,
                     bool with_value, Lanes lanes) {
    const std::size_t stride = lanes.stride;
    const T share = T(1) / static_cast<T>(lanes.rows);
    auto at = [stride](const T* p, std::size_t f, std::size_t b) {
      return load(p + f * stride + b);
    };
    switch (function) {
      case LossFunction::kMeanSquared:
        return pointwise(
            features, x, y, dx, with_value, lanes, [](V o, V t) { return (o - t) * (o - t); },
            [](V o, V t) { return 2 * (o - t); });
      case LossFunction::kMeanAbsolute:
        return pointwise(
            features, x, y, dx, with_value, lanes, [](V o, V t) { return abs(o - t); },
            [](V o, V t) { return sign(o - t); });
      case LossFunction::kMeanAbsolutePercentage:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V o, V t) {
              return 100 * abs((t - o) / (abs(t) < kEpsilon ? all(kEpsilon) : abs(t)));
            },
            [](V o, V t) {
              return 100 * sign(o - t) / (abs(t) < kEpsilon ? all(kEpsilon) : abs(t));
            });
      case LossFunction::kMeanSquaredLogarithmic: {
        const auto logarithm = [](V v) { return log((v < kEpsilon ? all(kEpsilon) : v) + 1); };
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [=](V o, V t) {
              const V d = logarithm(o) - logarithm(t);
              return d * d;
            },
            [=](V o, V t) {
              const V d =
                  2 * (logarithm(o) - logarithm(t)) / ((o < kEpsilon ? all(kEpsilon) : o) + 1);
              return o >= kEpsilon ? d : zero();
            });
      }
      case LossFunction::kSquaredHinge:
      case LossFunction::kHinge:
      case LossFunction::kSquaredHingeOfLabels:
      case LossFunction::kHingeOfLabels: {
        const bool as_they_are = function == LossFunction::kSquaredHingeOfLabels ||
                                 function == LossFunction::kHingeOfLabels;
        const bool binary = !as_they_are && zeros_and_ones(features, y, lanes);
        const T scale = binary ? 2 : 1, shift = binary ? 1 : 0;
        if (function == LossFunction::kHinge || function == LossFunction::kHingeOfLabels) {
          return pointwise(
              features, x, y, dx, with_value, lanes,
              [=](V o, V t) {
                const V margin = 1 - (scale * t - shift) * o;
                return margin < 0 ? zero() : margin;
              },
              [=](V o, V t) {
                const V label = scale * t - shift;
                return -label * (1 - label * o >= 0 ? all(1) : zero());
              });
        }
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [=](V o, V t) {
              const V margin = 1 - (scale * t - shift) * o;
              return margin < 0 ? zero() : margin * margin;
            },
            [=](V o, V t) {
              const V label = scale * t - shift, margin = 1 - label * o;
              return margin >= 0 ? -2 * label * margin : zero();
            });
      }
      case LossFunction::kLogCosh:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V o, V t) {
              const V d = o - t, z = -2 * d;
              return d + (z > 20 ? z : log1p(exp(z))) - T(0.69314718055994531);
            },
            [](V o, V t) { return tanh(o - t); });
      case LossFunction::kHuber:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V o, V t) {
              const V d = o - t, size = abs(d);
              return size <= 1 ? T(0.5) * (d * d) : size - T(0.5);
            },
            [](V o, V t) {
              const V d = o - t;
              return abs(d) <= 1 ? d
                                 : sign(d) + 0 * d;  // NaN where d is infinite, as in TensorFlow
            });
      case LossFunction::kPoisson:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V o, V t) { return o - t * log(o + kEpsilon); },
            [](V o, V t) { return 1 - t / (o + kEpsilon); });
      case LossFunction::kBinaryCrossentropy:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V o, V t) {
              const V p = clip(o, kEpsilon, 1 - kEpsilon);
              return -(t * log(p + kEpsilon) + (1 - t) * log(1 - p + kEpsilon));
            },
            [](V o, V t) {
              const V p = clip(o, kEpsilon, 1 - kEpsilon);
              return within(o, kEpsilon, 1 - kEpsilon,
                            (1 - t) / (1 - p + kEpsilon) - t / (p + kEpsilon));
            });
      case LossFunction::kBinaryCrossentropyOfClipped:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V o, V t) {
              const V p = clip(o, kEpsilon, 1 - kEpsilon), z = log(p / (1 - p));
              return (z < 0 ? zero() : z) - z * t + log1p(exp(-abs(z)));
            },
            [](V o, V t) {
              const V p = clip(o, kEpsilon, 1 - kEpsilon);
              return within(o, kEpsilon, 1 - kEpsilon, (p - t) / (p * (1 - p)));
            });
      case LossFunction::kSigmoidCrossentropy:
        return pointwise(
            features, x, y, dx, with_value, lanes,
            [](V z, V t) { return (z < 0 ? zero() : z) - z * t + log1p(exp(-abs(z))); },
            [](V z, V t) { return sigmoid(z) - t; });
      case LossFunction::kKullbackLeibler:
        return by_row(lanes, with_value, [=](std::size_t b) {
          V sum = zero();
          for (std::size_t f = 0; f < features; ++f) {
            const V o = at(x, f, b), p = clip(o, kEpsilon, 1), t = clip(at(y, f, b), kEpsilon, 1);
            if (with_value) sum += t * log(t / p);
            if (dx) store(dx + f * stride + b, within(o, kEpsilon, 1, -share * t / p));
          }
          return sum;
        });
      case LossFunction::kCategoricalHinge:
        return by_row(lanes, with_value, [=](std::size_t b) {
          V positive = zero(), negative = (1 - at(y, 0, b)) * at(x, 0, b), ties = zero();
          for (std::size_t f = 0; f < features; ++f) {
            const V n = (1 - at(y, f, b)) * at(x, f, b);
            positive += at(y, f, b) * at(x, f, b);
            negative = n > negative ? n : n == n ? negative : n;
          }
          for (std::size_t f = 0; f < features; ++f) {
            ties += (1 - at(y, f, b)) * at(x, f, b) == negative ? all(1) : zero();
          }
          const V margin = negative - positive + 1;
          const V active = margin >= 0 ? all(share) : zero();
          if (dx) {
            for (std::size_t f = 0; f < features; ++f) {
              const V other = 1 - at(y, f, b);
              const V largest = (other * at(x, f, b) == negative ? other : zero()) / ties;
              store(dx + f * stride + b, active * (largest - at(y, f, b)));
            }
          }
          return margin < 0 ? zero() : margin;
        });
      case LossFunction::kCosineSimilarity:
        return by_row(lanes, with_value, [=](std::size_t b) {
          V xx = zero(), yy = zero(), xy = zero();
          for (std::size_t f = 0; f < features; ++f) {
            xx += at(x, f, b) * at(x, f, b);
            yy += at(y, f, b) * at(y, f, b);
            xy += at(x, f, b) * at(y, f, b);
          }
          const T floor = T(1e-12);
          const V x_scale = 1 / sqrt(xx < floor ? all(floor) : xx);
          const V y_scale = 1 / sqrt(yy < floor ? all(floor) : yy);
          const V cosine = xy * x_scale * y_scale;
          // Below the floor the length is a constant.
          const V along = cosine * x_scale * (xx >= floor ? all(1) : zero());
          if (dx) {
            for (std::size_t f = 0; f < features; ++f) {
              const V d = at(y, f, b) * y_scale - at(x, f, b) * along;
              store(dx + f * stride + b, -share * x_scale * d);
            }
          }
          return -cosine;
        });
      case LossFunction::kCategoricalCrossentropy:
        return by_row(lanes, with_value, [=](std::size_t b) {
          V sum = zero(), value = zero(), dot = zero();
          for (std::size_t f = 0; f < features; ++f) sum += at(x, f, b);
          for (std::size_t f = 0; f < features; ++f) {
            const V q = at(x, f, b) / sum, c = clip(q, kEpsilon, 1 - kEpsilon), t = at(y, f, b);
            if (with_value) value -= t * log(c);
            if (dx) {
              const V d = within(q, kEpsilon, 1 - kEpsilon, -t / c);
              dot += d * q;
              store(dx + f * stride + b, d);
            }
          }
          if (dx) {
            for (std::size_t f = 0; f < features; ++f) {
              store(dx + f * stride + b, share * (at(dx, f, b) - dot) / sum);
            }
          }
          return value;
        });
      case LossFunction::kSparseCrossentropy:
        return by_row(lanes, with_value, [=](std::size_t b) {
          const V label = whole(load(y + b));
          V others = zero(), chosen = zero();
          for (std::size_t f = 0; f < features; ++f) {
            const V c = clip(at(x, f, b), kEpsilon, 1 - kEpsilon);
            const M own = label == static_cast<T>(f);
            others += own ? zero() : c;
            chosen = own ? c : chosen;
          }
          const V sum = others + chosen;
          if (dx) {
            for (std::size_t f = 0; f < features; ++f) {
              const V o = at(x, f, b);
              // 1 / sum - 1 / chosen would lose its digits where the class is certain.
              const V slope = (label == static_cast<T>(f) ? -others / chosen : all(1)) / sum;
              store(dx + f * stride + b, within(o, kEpsilon, 1 - kEpsilon, share * slope));
            }
          }
          return with_value ? log(sum) - log(chosen) : zero();
        });
      case LossFunction::kSoftmaxCrossentropy:
      case LossFunction::kSparseSoftmaxCrossentropy: {
        const bool sparse = function == LossFunction::kSparseSoftmaxCrossentropy;
        return by_row(lanes, with_value, [=](std::size_t b) {
          V top = at(x, 0, b);
          for (std::size_t f = 1; f < features; ++f) top = at(x, f, b) > top ? at(x, f, b) : top;
          V sum = zero();
          for (std::size_t f = 0; f < features; ++f) {
            const V e = exp(at(x, f, b) - top);
            sum += e;
            if (dx) store(dx + f * stride + b, e);
          }
          V value = zero();
          const V logarithm = with_value ? log(sum) : zero();
          for (std::size_t f = 0; f < features; ++f) {
            V t;
            if (sparse) {
              t = whole(load(y + b)) == static_cast<T>(f) ? all(1) : zero();
            } else {
              t = at(y, f, b);
            }
            if (with_value) {
              const V term = at(x, f, b) - top - logarithm;
              // Sparse: the others don't count even where they are infinite.
              value -= sparse ? (t > 0 ? term : zero()) : t * term;
            }
            if (dx) store(dx + f * stride + b, share * (at(dx, f, b) / sum - t));
          }
          return value;
        });
      }
    }
    return 0;
  }

  // Dropout.

  // The element types depend on W as GCC 12 otherwise ignores a vector size that does.
  using Word = std::conditional_t<(W > 0), std::uint32_t, void>;
  using LongWord = std::conditional_t<(W > 0), std::uint64_t, void>;
  typedef Word U __attribute__((vector_size(W * 4), may_alias));
  typedef LongWord Q __attribute__((vector_size(W * 4), may_alias));

  /// Products of the even lanes' 32 bits.
  static NEUTRA_INLINE Q multiply_even(U a, std::uint32_t by) {
#ifdef __AVX512F__
    if constexpr (W == 16) return (Q)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi32((int)by));
#endif
#ifdef __AVX2__
    if constexpr (W == 8) return (Q)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32((int)by));
#endif
    return ((Q)a & 0xffffffff) * by;
  }
  /// High and low halves of the products of all lanes.
  static NEUTRA_INLINE void multiply_wide(U a, std::uint32_t by, U& high, U& low) {
    const Q even = multiply_even(a, by), odd = multiply_even((U)((Q)a >> 32), by);
    const Q upper = Q{} + 0xffffffff00000000;
    high = (U)((even >> 32) | (odd & upper));
    low = (U)((even & ~upper) | (odd << 32));
  }

  /// Blocks of Philox (training/random.cpp), one a lane: words[k] holds their words k.
  static NEUTRA_INLINE void philox(const RandomStream& stream, U block, U* words) {
    U c0 = block, c1 = U{} + stream.step, c2 = U{} + stream.layer;
    U c3 = U{} + static_cast<std::uint32_t>(stream.stream);
    std::uint32_t k0 = stream.key.low, k1 = stream.key.high;
    for (int round = 0; round < 10; ++round) {
      U high0, low0, high1, low1;
      multiply_wide(c0, 0xD2511F53, high0, low0);
      multiply_wide(c2, 0xCD9E8D57, high1, low1);
      c0 = high1 ^ c1 ^ k0;
      c1 = low1;
      c2 = high0 ^ c3 ^ k1;
      c3 = low0;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
  }

  static void dropout(const RandomStream& stream, float rate, std::size_t features, const T* x,
                      T* mask, T* y, Lanes lanes) {
    const auto threshold = static_cast<std::uint32_t>(static_cast<double>(rate) * 0x1p32);
    const T scale = static_cast<T>(1.0f / (1.0f - rate));
    const std::size_t blocks = (features + 3) / 4;
    const bool whole = features % 4 == 0;  // no block lies across two rows
    for (std::size_t b = 0; b < lanes.stride; b += W) {
      // A row's words begin at word `shift` of its first block.
      U first, shift;
      for (std::size_t i = 0; i < W; ++i) {
        const std::size_t word = (b + i) * features;
        first[i] = static_cast<std::uint32_t>(word / 4);
        shift[i] = static_cast<std::uint32_t>(word % 4);
      }
      U words[8];  // of two blocks
      philox(stream, first, words);
      for (std::size_t q = 0; q < blocks; ++q) {
        const U following = first + static_cast<std::uint32_t>(q + 1);
        if (!whole) philox(stream, following, words + 4);
        for (std::size_t j = 0; j < 4 && 4 * q + j < features; ++j) {
          U drawn = words[j];
          if (!whole) {
            const U odd = (shift & 1) != 0 ? words[j + 1] : words[j];
            const U far = (shift & 1) != 0 ? words[j + 3] : words[j + 2];
            drawn = (shift & 2) != 0 ? far : odd;
          }
          V kept;
          if constexpr (sizeof(T) == 4) {
            kept = (V)((drawn >= threshold) & (M)all(scale));
          } else {
            for (int i = 0; i < W; ++i) kept[i] = drawn[i] >= threshold ? scale : T(0);
          }
          const std::size_t to = (4 * q + j) * lanes.stride + b;
          store(mask + to, kept);
          store(y + to, load(x + to) * kept);
        }
        if (!whole) {
          for (int k = 0; k < 4; ++k) words[k] = words[k + 4];
        } else if (q + 1 < blocks) {
          philox(stream, following, words);
        }
      }
    }
  }
  static void multiply(std::size_t count, const T* x, const T* by, T* y) {
    map(count, x, by, y, [](V a, V b) { return a * b; });
  }

  // Batch normalisation.

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

  static constexpr KernelTable<T> table() {
    return {kWidth,  product,   outer,    sum_rows,      row_sums,    gather,
            to_rows, from_rows, activate, differentiate, softmax,     differentiate_softmax,
            loss,    dropout,   multiply, normalise,     apply_scale, differentiate_normalise};
  }
};

#undef NEUTRA_INLINE

}  // namespace
}  // namespace neutra::training::fused
