#pragma once

#include <cstring>

#include "training/fused/kernels/simd.h"

namespace neutra::training::fused {
namespace {

/// Products of matrices, and sums.
template <typename T, int W>
struct Products : Simd<T, W> {
  using Base = Simd<T, W>;
  using Base::all, Base::lane_sum, Base::load, Base::load_any, Base::load_part, Base::masked,
      Base::store, Base::store_any, Base::store_part, Base::sums, Base::transpose, Base::valid,
      Base::vectors, Base::zero;
  using typename Base::M, typename Base::V;

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
};

}  // namespace
}  // namespace neutra::training::fused
