#include "training/fused/winograd.h"

#include <algorithm>

#include "training/clones.h"
#include "training/fused/vectors.h"

namespace neutra::fused::winograd {
namespace {

constexpr std::size_t kPatch = 6, kTile = 4, kKernel = 3;

NEUTRA_INLINE Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
NEUTRA_INLINE void store(float* p, Floats v) { *reinterpret_cast<Floats*>(p) = v; }

/// B^T, B, A^T, A, G and G^T times a vector of `kFrom` values, which lie `step` apart.
struct InputTransform {  // B^T
  static constexpr std::size_t kFrom = 6, kTo = 6;
  static NEUTRA_INLINE void apply(const Floats* d, std::size_t s, Floats* to, std::size_t t) {
    const Floats even = d[4 * s] - 4 * d[2 * s], odd = d[3 * s] - 4 * d[s];
    const Floats outer = d[4 * s] - d[2 * s], inner = 2 * (d[3 * s] - d[s]);
    to[0] = 4 * d[0] - 5 * d[2 * s] + d[4 * s];
    to[t] = even + odd;
    to[2 * t] = even - odd;
    to[3 * t] = outer + inner;
    to[4 * t] = outer - inner;
    to[5 * t] = 4 * d[s] - 5 * d[3 * s] + d[5 * s];
  }
};
struct InputGradient {  // B
  static constexpr std::size_t kFrom = 6, kTo = 6;
  static NEUTRA_INLINE void apply(const Floats* v, std::size_t s, Floats* to, std::size_t t) {
    const Floats sum = v[s] + v[2 * s], difference = v[s] - v[2 * s];
    const Floats outer = v[3 * s] + v[4 * s], inner = 2 * (v[3 * s] - v[4 * s]);
    to[0] = 4 * v[0];
    to[t] = 4 * v[5 * s] - 4 * difference - inner;
    to[2 * t] = -5 * v[0] - 4 * sum - outer;
    to[3 * t] = difference + inner - 5 * v[5 * s];
    to[4 * t] = v[0] + sum + outer;
    to[5 * t] = v[5 * s];
  }
};
struct OutputTransform {  // A^T
  static constexpr std::size_t kFrom = 6, kTo = 4;
  static NEUTRA_INLINE void apply(const Floats* m, std::size_t s, Floats* to, std::size_t t) {
    const Floats sum = m[s] + m[2 * s], difference = m[s] - m[2 * s];
    const Floats outer = m[3 * s] + m[4 * s], inner = m[3 * s] - m[4 * s];
    to[0] = m[0] + sum + outer;
    to[t] = difference + 2 * inner;
    to[2 * t] = sum + 4 * outer;
    to[3 * t] = difference + 8 * inner + m[5 * s];
  }
};
struct OutputGradient {  // A
  static constexpr std::size_t kFrom = 4, kTo = 6;
  static NEUTRA_INLINE void apply(const Floats* y, std::size_t s, Floats* to, std::size_t t) {
    const Floats even = y[0] + y[2 * s], odd = y[s] + y[3 * s];
    const Floats outer = y[0] + 4 * y[2 * s], inner = 2 * y[s] + 8 * y[3 * s];
    to[0] = y[0];
    to[t] = even + odd;
    to[2 * t] = even - odd;
    to[3 * t] = outer + inner;
    to[4 * t] = outer - inner;
    to[5 * t] = y[3 * s];
  }
};
struct KernelTransform {  // G
  static constexpr std::size_t kFrom = 3, kTo = 6;
  static NEUTRA_INLINE void apply(const Floats* g, std::size_t s, Floats* to, std::size_t t) {
    const Floats even = (g[0] + g[2 * s]) * (-1.0f / 6), odd = g[s] * (-1.0f / 6);
    const Floats outer = g[0] * (1.0f / 24) + g[2 * s] * (1.0f / 6), inner = g[s] * (1.0f / 12);
    to[0] = g[0] * 0.25f;
    to[t] = even + odd;
    to[2 * t] = even - odd;
    to[3 * t] = outer + inner;
    to[4 * t] = outer - inner;
    to[5 * t] = g[2 * s];
  }
};
struct KernelGradient {  // G^T
  static constexpr std::size_t kFrom = 6, kTo = 3;
  static NEUTRA_INLINE void apply(const Floats* u, std::size_t s, Floats* to, std::size_t t) {
    const Floats sum = (u[s] + u[2 * s]) * (1.0f / 6), outer = u[3 * s] + u[4 * s];
    to[0] = u[0] * 0.25f - sum + outer * (1.0f / 24);
    to[t] = (u[2 * s] - u[s]) * (1.0f / 6) + (u[3 * s] - u[4 * s]) * (1.0f / 12);
    to[2 * t] = outer * (1.0f / 6) - sum + u[5 * s];
  }
};

/// The transform along both axes: T x T^T.
template <typename T>
NEUTRA_INLINE void both(const Floats* x, Floats* result) {
  Floats half[T::kTo * T::kFrom];
  for (std::size_t j = 0; j < T::kFrom; ++j) T::apply(x + j, T::kFrom, half + j, T::kFrom);
  for (std::size_t i = 0; i < T::kTo; ++i) {
    T::apply(half + i * T::kFrom, 1, result + i * T::kTo, 1);
  }
}

/// Calls visit(position in the range, image, top, left) for each tile, in cells of the output.
template <typename Visit>
NEUTRA_INLINE void for_tiles(const Tiling& tiling, Range range, Visit visit) {
  const std::size_t across = tiling.across(), tiles = tiling.tiles();
  for (std::size_t k = 0; k < range.count; ++k) {
    const std::size_t image = (range.first + k) / tiles, tile = (range.first + k) % tiles;
    visit(k, image, tile / across * kTile, tile % across * kTile);
  }
}

/// Part of a square of cells that lies within an image.
struct Part {
  std::size_t top, bottom, left, right;  ///< cells of the square
  std::ptrdiff_t first;                  ///< index of the square's first cell in the batch
  template <std::size_t kSize>
  bool whole() const {
    return top == 0 && left == 0 && bottom == kSize && right == kSize;
  }
};
NEUTRA_INLINE Part part(std::size_t image, std::ptrdiff_t top, std::ptrdiff_t left,
                        std::size_t size, std::size_t height, std::size_t width) {
  const auto within = [](std::ptrdiff_t value, std::size_t most) {
    return static_cast<std::size_t>(
        std::clamp(value, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(most)));
  };
  const auto h = static_cast<std::ptrdiff_t>(height), w = static_cast<std::ptrdiff_t>(width);
  return {within(-top, size), within(h - top, size), within(-left, size), within(w - left, size),
          (static_cast<std::ptrdiff_t>(image) * h + top) * w + left};
}

/// Calls visit(cell of the square, offset of its first channel) for the cells of a part.
template <std::size_t kSize, typename Visit>
NEUTRA_INLINE void for_cells(const Part& p, std::size_t width, std::size_t channels, Visit visit) {
  const auto step = static_cast<std::ptrdiff_t>(channels);
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(width) * step;
  std::ptrdiff_t offset = p.first * step;
  if (p.whole<kSize>()) {
    for (std::size_t i = 0; i < kSize; ++i, offset += line) {
      std::ptrdiff_t at = offset;
      for (std::size_t j = 0; j < kSize; ++j, at += step) visit(i * kSize + j, at);
    }
    return;
  }
  offset += static_cast<std::ptrdiff_t>(p.top) * line + static_cast<std::ptrdiff_t>(p.left) * step;
  for (std::size_t i = p.top; i < p.bottom; ++i, offset += line) {
    std::ptrdiff_t at = offset;
    for (std::size_t j = p.left; j < p.right; ++j, at += step) visit(i * kSize + j, at);
  }
}

NEUTRA_INLINE Part input_part(const Tiling& t, std::size_t image, std::size_t top,
                              std::size_t left) {
  return part(image, static_cast<std::ptrdiff_t>(top) - t.top,
              static_cast<std::ptrdiff_t>(left) - t.left, kPatch, t.height, t.width);
}
NEUTRA_INLINE Part output_part(const Tiling& t, std::size_t image, std::size_t top,
                               std::size_t left) {
  return part(image, static_cast<std::ptrdiff_t>(top), static_cast<std::ptrdiff_t>(left), kTile,
              t.output_height, t.output_width);
}

}  // namespace

Tiling::Tiling(const Windows& windows)
    : height(static_cast<std::size_t>(windows.height.input)),
      width(static_cast<std::size_t>(windows.width.input)),
      output_height(static_cast<std::size_t>(windows.height.output)),
      output_width(static_cast<std::size_t>(windows.width.output)),
      top(windows.height.before),
      left(windows.width.before) {}

NEUTRA_CLONES void inputs(const Tiling& tiling, Range range, std::size_t channels, const float* x,
                          float* result, std::uint64_t* occupied) {
  const std::size_t step = range.count * channels;
  for_tiles(tiling, range,
            [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left)
                NEUTRA_INLINED {
                  const Part cells = input_part(tiling, image, top, left);
                  Ints bits[kPoints] = {};  // of all channels
                  for (std::size_t c = 0; c < channels; c += kWidth) {
                    Floats patch[kPoints], transformed[kPoints];
                    if (!cells.whole<kPatch>()) std::fill_n(patch, kPoints, Floats{});
                    for_cells<kPatch>(cells, tiling.width, channels,
                                      [&](std::size_t cell, std::ptrdiff_t at)
                                          NEUTRA_INLINED { patch[cell] = load(x + at + c); });
                    if (occupied) {
                      for (std::size_t p = 0; p < kPoints; ++p) bits[p] |= (Ints)patch[p];
                    }
                    both<InputTransform>(patch, transformed);
                    for (std::size_t p = 0; p < kPoints; ++p) {
                      store(result + p * step + k * channels + c, transformed[p]);
                    }
                  }
                  if (occupied) {
                    occupied[k] = 0;
                    for (std::size_t p = 0; p < kPoints; ++p) {
                      std::int32_t any = 0;
                      for (std::size_t i = 0; i < kWidth; ++i) any |= bits[p][i];
                      any &= 0x7fffffff;  // -0 is zero
                      occupied[k] |= std::uint64_t{any != 0} << p;
                    }
                  }
                });
}

NEUTRA_CLONES void outputs(const Tiling& tiling, Range range, std::size_t filters, const float* m,
                           const float* bias, const std::uint64_t* occupied, float* y) {
  constexpr std::uint64_t kWindow = 0b111 | 0b111 << kPatch | 0b111 << (2 * kPatch);
  const std::size_t step = range.count * filters;
  for_tiles(
      tiling, range,
      [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left) NEUTRA_INLINED {
        const Part cells = output_part(tiling, image, top, left);
        for (std::size_t f = 0; f < filters; f += kWidth) {
          Floats values[kPoints], tile[kTile * kTile];
          for (std::size_t p = 0; p < kPoints; ++p)
            values[p] = load(m + p * step + k * filters + f);
          both<OutputTransform>(values, tile);
          const Floats start = bias ? load(bias + f) : Floats{};
          for_cells<kTile>(cells, tiling.output_width, filters,
                           [&](std::size_t cell, std::ptrdiff_t at) NEUTRA_INLINED {
                             const std::size_t first = cell / kTile * kPatch + cell % kTile;
                             const bool zeros = (occupied[k] >> first & kWindow) == 0;
                             store(y + at + f, zeros ? start : tile[cell] + start);
                           });
        }
      });
}

NEUTRA_CLONES void output_gradients(const Tiling& tiling, Range range, std::size_t filters,
                                    const float* dy, float* result, double* sums) {
  const std::size_t step = range.count * filters;
  for_tiles(tiling, range,
            [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left)
                NEUTRA_INLINED {
                  const Part cells = output_part(tiling, image, top, left);
                  for (std::size_t f = 0; f < filters; f += kWidth) {
                    Floats tile[kTile * kTile], transformed[kPoints], sum{};
                    if (!cells.whole<kTile>()) std::fill_n(tile, kTile * kTile, Floats{});
                    for_cells<kTile>(cells, tiling.output_width, filters,
                                     [&](std::size_t cell, std::ptrdiff_t at)
                                         NEUTRA_INLINED { tile[cell] = load(dy + at + f); });
                    for (const Floats& v : tile) sum += v;
                    add(sums + f, sum);
                    both<OutputGradient>(tile, transformed);
                    for (std::size_t p = 0; p < kPoints; ++p) {
                      store(result + p * step + k * filters + f, transformed[p]);
                    }
                  }
                });
}

NEUTRA_CLONES void input_gradients(const Tiling& tiling, Range range, std::size_t channels,
                                   const float* d, float* dx) {
  const std::size_t step = range.count * channels;
  for_tiles(tiling, range,
            [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left)
                NEUTRA_INLINED {
                  const Part cells = input_part(tiling, image, top, left);
                  for (std::size_t c = 0; c < channels; c += kWidth) {
                    Floats values[kPoints], patch[kPoints];
                    for (std::size_t p = 0; p < kPoints; ++p)
                      values[p] = load(d + p * step + k * channels + c);
                    both<InputGradient>(values, patch);
                    for_cells<kPatch>(cells, tiling.width, channels,
                                      [&](std::size_t cell, std::ptrdiff_t at) NEUTRA_INLINED {
                                        float* to = dx + at + c;
                                        store(to, load(to) + patch[cell]);
                                      });
                  }
                });
}

NEUTRA_CLONES void kernels(std::size_t size, const float* g, float* result) {
  for (std::size_t i = 0; i < size; i += kWidth) {
    Floats kernel[kKernel * kKernel], transformed[kPoints];
    for (std::size_t k = 0; k < kKernel * kKernel; ++k) kernel[k] = load(g + k * size + i);
    both<KernelTransform>(kernel, transformed);
    for (std::size_t p = 0; p < kPoints; ++p) store(result + p * size + i, transformed[p]);
  }
}

NEUTRA_CLONES void kernel_gradients(std::size_t size, const float* u, float* dg) {
  for (std::size_t i = 0; i < size; i += kWidth) {
    Floats values[kPoints], kernel[kKernel * kKernel];
    for (std::size_t p = 0; p < kPoints; ++p) values[p] = load(u + p * size + i);
    both<KernelGradient>(values, kernel);
    for (std::size_t k = 0; k < kKernel * kKernel; ++k) store(dg + k * size + i, kernel[k]);
  }
}

}  // namespace neutra::fused::winograd
