#include "training/fused/winograd.h"

#include <algorithm>

#include "training/clones.h"
#include "training/fused/vectors.h"
#include "training/isa.h"

namespace neutra::training::fused::winograd {
namespace {

constexpr std::size_t kPatch = 6, kTile = 4, kKernel = 3;

/// N floats, and where they lie in memory: at any address.
template <std::size_t N>
struct Lanes {
  typedef float Floats __attribute__((vector_size(N * sizeof(float))));
  typedef std::int32_t Ints __attribute__((vector_size(N * sizeof(std::int32_t))));
  typedef float Memory __attribute__((vector_size(N * sizeof(float)), may_alias, aligned(4)));
};
using Narrow = Lanes<kWidth>::Floats;
/// For AVX-512.
using Wide = Lanes<2 * kWidth>::Floats;
#if defined(__x86_64__) && defined(__GNUC__)
#define NEUTRA_WIDE __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
#else
#define NEUTRA_WIDE
#endif

template <typename V>
constexpr std::size_t kLanes = sizeof(V) / sizeof(float);

template <typename V>
NEUTRA_INLINE V load(const float* p) {
  return *reinterpret_cast<const typename Lanes<kLanes<V>>::Memory*>(p);
}
template <typename V>
NEUTRA_INLINE void store(float* p, V v) {
  *reinterpret_cast<typename Lanes<kLanes<V>>::Memory*>(p) = v;
}

/// May loops over so many channels take twice the width? Results are the same.
bool wide(std::size_t channels) {
  static const bool allowed =
      wanted_instruction_set().value_or(InstructionSet::kAvx512) == InstructionSet::kAvx512 &&
      supports(InstructionSet::kAvx512);
  return allowed && channels % (2 * kWidth) == 0;
}

/// B^T, B, A^T, A, G and G^T times a vector of `kFrom` values, which lie `step` apart.
struct InputTransform {  // B^T
  static constexpr std::size_t kFrom = 6, kTo = 6;
  template <typename V>
  static NEUTRA_INLINE void apply(const V* d, std::size_t s, V* to, std::size_t t) {
    const V even = d[4 * s] - 4 * d[2 * s], odd = d[3 * s] - 4 * d[s];
    const V outer = d[4 * s] - d[2 * s], inner = 2 * (d[3 * s] - d[s]);
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
  template <typename V>
  static NEUTRA_INLINE void apply(const V* v, std::size_t s, V* to, std::size_t t) {
    const V sum = v[s] + v[2 * s], difference = v[s] - v[2 * s];
    const V outer = v[3 * s] + v[4 * s], inner = 2 * (v[3 * s] - v[4 * s]);
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
  template <typename V>
  static NEUTRA_INLINE void apply(const V* m, std::size_t s, V* to, std::size_t t) {
    const V sum = m[s] + m[2 * s], difference = m[s] - m[2 * s];
    const V outer = m[3 * s] + m[4 * s], inner = m[3 * s] - m[4 * s];
    to[0] = m[0] + sum + outer;
    to[t] = difference + 2 * inner;
    to[2 * t] = sum + 4 * outer;
    to[3 * t] = difference + 8 * inner + m[5 * s];
  }
};
struct OutputGradient {  // A
  static constexpr std::size_t kFrom = 4, kTo = 6;
  template <typename V>
  static NEUTRA_INLINE void apply(const V* y, std::size_t s, V* to, std::size_t t) {
    const V even = y[0] + y[2 * s], odd = y[s] + y[3 * s];
    const V outer = y[0] + 4 * y[2 * s], inner = 2 * y[s] + 8 * y[3 * s];
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
  template <typename V>
  static NEUTRA_INLINE void apply(const V* g, std::size_t s, V* to, std::size_t t) {
    const V even = (g[0] + g[2 * s]) * (-1.0f / 6), odd = g[s] * (-1.0f / 6);
    const V outer = g[0] * (1.0f / 24) + g[2 * s] * (1.0f / 6), inner = g[s] * (1.0f / 12);
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
  template <typename V>
  static NEUTRA_INLINE void apply(const V* u, std::size_t s, V* to, std::size_t t) {
    const V sum = (u[s] + u[2 * s]) * (1.0f / 6), outer = u[3 * s] + u[4 * s];
    to[0] = u[0] * 0.25f - sum + outer * (1.0f / 24);
    to[t] = (u[2 * s] - u[s]) * (1.0f / 6) + (u[3 * s] - u[4 * s]) * (1.0f / 12);
    to[2 * t] = outer * (1.0f / 6) - sum + u[5 * s];
  }
};

/// The transform along both axes: T x T^T.
template <typename T, typename V>
NEUTRA_INLINE void both(const V* x, V* result) {
  V half[T::kTo * T::kFrom];
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

template <typename V>
NEUTRA_INLINE void inputs_of(const Tiling& tiling, Range range, std::size_t channels,
                             const float* x, float* result, std::uint64_t* occupied) {
  const std::size_t step = range.count * channels;
  for_tiles(tiling, range,
            [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left)
                NEUTRA_INLINED {
                  const Part cells = input_part(tiling, image, top, left);
                  typename Lanes<kLanes<V>>::Ints bits[kPoints] = {};  // of all channels
                  for (std::size_t c = 0; c < channels; c += kLanes<V>) {
                    V patch[kPoints], transformed[kPoints];
                    if (!cells.whole<kPatch>()) std::fill_n(patch, kPoints, V{});
                    for_cells<kPatch>(cells, tiling.width, channels,
                                      [&](std::size_t cell, std::ptrdiff_t at)
                                          NEUTRA_INLINED { patch[cell] = load<V>(x + at + c); });
                    if (occupied) {
                      for (std::size_t p = 0; p < kPoints; ++p) {
                        bits[p] |= (typename Lanes<kLanes<V>>::Ints)patch[p];
                      }
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
                      for (std::size_t i = 0; i < kLanes<V>; ++i) any |= bits[p][i];
                      any &= 0x7fffffff;  // -0 is zero
                      occupied[k] |= std::uint64_t{any != 0} << p;
                    }
                  }
                });
}

template <typename V>
NEUTRA_INLINE void outputs_of(const Tiling& tiling, Range range, std::size_t filters,
                              const float* m, const float* bias, const std::uint64_t* occupied,
                              float* y) {
  constexpr std::uint64_t kWindow = 0b111 | 0b111 << kPatch | 0b111 << (2 * kPatch);
  const std::size_t step = range.count * filters;
  for_tiles(
      tiling, range,
      [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left) NEUTRA_INLINED {
        const Part cells = output_part(tiling, image, top, left);
        for (std::size_t f = 0; f < filters; f += kLanes<V>) {
          V values[kPoints], tile[kTile * kTile];
          for (std::size_t p = 0; p < kPoints; ++p) {
            values[p] = load<V>(m + p * step + k * filters + f);
          }
          both<OutputTransform>(values, tile);
          const V start = bias ? load<V>(bias + f) : V{};
          for_cells<kTile>(cells, tiling.output_width, filters,
                           [&](std::size_t cell, std::ptrdiff_t at) NEUTRA_INLINED {
                             const std::size_t first = cell / kTile * kPatch + cell % kTile;
                             const bool zeros = (occupied[k] >> first & kWindow) == 0;
                             store(y + at + f, zeros ? start : tile[cell] + start);
                           });
        }
      });
}

template <typename V>
NEUTRA_INLINE void output_gradients_of(const Tiling& tiling, Range range, std::size_t filters,
                                       const float* dy, float* result, double* sums) {
  const std::size_t step = range.count * filters;
  for_tiles(tiling, range,
            [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left)
                NEUTRA_INLINED {
                  const Part cells = output_part(tiling, image, top, left);
                  for (std::size_t f = 0; f < filters; f += kLanes<V>) {
                    V tile[kTile * kTile], transformed[kPoints], sum{};
                    if (!cells.whole<kTile>()) std::fill_n(tile, kTile * kTile, V{});
                    for_cells<kTile>(cells, tiling.output_width, filters,
                                     [&](std::size_t cell, std::ptrdiff_t at)
                                         NEUTRA_INLINED { tile[cell] = load<V>(dy + at + f); });
                    for (const V& v : tile) sum += v;
                    for (std::size_t i = 0; i < kLanes<V>; ++i) {
                      sums[f + i] += static_cast<double>(sum[i]);
                    }
                    both<OutputGradient>(tile, transformed);
                    for (std::size_t p = 0; p < kPoints; ++p) {
                      store(result + p * step + k * filters + f, transformed[p]);
                    }
                  }
                });
}

template <typename V>
NEUTRA_INLINE void input_gradients_of(const Tiling& tiling, Range range, std::size_t channels,
                                      const float* d, float* dx) {
  const std::size_t step = range.count * channels;
  for_tiles(tiling, range,
            [&](std::size_t k, std::size_t image, std::size_t top, std::size_t left)
                NEUTRA_INLINED {
                  const Part cells = input_part(tiling, image, top, left);
                  for (std::size_t c = 0; c < channels; c += kLanes<V>) {
                    V values[kPoints], patch[kPoints];
                    for (std::size_t p = 0; p < kPoints; ++p) {
                      values[p] = load<V>(d + p * step + k * channels + c);
                    }
                    both<InputGradient>(values, patch);
                    for_cells<kPatch>(cells, tiling.width, channels,
                                      [&](std::size_t cell, std::ptrdiff_t at) NEUTRA_INLINED {
                                        float* to = dx + at + c;
                                        store(to, load<V>(to) + patch[cell]);
                                      });
                  }
                });
}

template <typename V>
NEUTRA_INLINE void kernels_of(std::size_t size, const float* g, float* result) {
  for (std::size_t i = 0; i < size; i += kLanes<V>) {
    V kernel[kKernel * kKernel], transformed[kPoints];
    for (std::size_t k = 0; k < kKernel * kKernel; ++k) kernel[k] = load<V>(g + k * size + i);
    both<KernelTransform>(kernel, transformed);
    for (std::size_t p = 0; p < kPoints; ++p) store(result + p * size + i, transformed[p]);
  }
}

template <typename V>
NEUTRA_INLINE void kernel_gradients_of(std::size_t size, const float* u, float* dg) {
  for (std::size_t i = 0; i < size; i += kLanes<V>) {
    V values[kPoints], kernel[kKernel * kKernel];
    for (std::size_t p = 0; p < kPoints; ++p) values[p] = load<V>(u + p * size + i);
    both<KernelGradient>(values, kernel);
    for (std::size_t k = 0; k < kKernel * kKernel; ++k) store(dg + k * size + i, kernel[k]);
  }
}

NEUTRA_CLONES void inputs_narrow(const Tiling& tiling, Range range, std::size_t channels,
                                 const float* x, float* result, std::uint64_t* occupied) {
  inputs_of<Narrow>(tiling, range, channels, x, result, occupied);
}
NEUTRA_WIDE void inputs_wide(const Tiling& tiling, Range range, std::size_t channels,
                             const float* x, float* result, std::uint64_t* occupied) {
  inputs_of<Wide>(tiling, range, channels, x, result, occupied);
}

NEUTRA_CLONES void outputs_narrow(const Tiling& tiling, Range range, std::size_t filters,
                                  const float* m, const float* bias, const std::uint64_t* occupied,
                                  float* y) {
  outputs_of<Narrow>(tiling, range, filters, m, bias, occupied, y);
}
NEUTRA_WIDE void outputs_wide(const Tiling& tiling, Range range, std::size_t filters,
                              const float* m, const float* bias, const std::uint64_t* occupied,
                              float* y) {
  outputs_of<Wide>(tiling, range, filters, m, bias, occupied, y);
}

NEUTRA_CLONES void output_gradients_narrow(const Tiling& tiling, Range range, std::size_t filters,
                                           const float* dy, float* result, double* sums) {
  output_gradients_of<Narrow>(tiling, range, filters, dy, result, sums);
}
NEUTRA_WIDE void output_gradients_wide(const Tiling& tiling, Range range, std::size_t filters,
                                       const float* dy, float* result, double* sums) {
  output_gradients_of<Wide>(tiling, range, filters, dy, result, sums);
}

NEUTRA_CLONES void input_gradients_narrow(const Tiling& tiling, Range range, std::size_t channels,
                                          const float* d, float* dx) {
  input_gradients_of<Narrow>(tiling, range, channels, d, dx);
}
NEUTRA_WIDE void input_gradients_wide(const Tiling& tiling, Range range, std::size_t channels,
                                      const float* d, float* dx) {
  input_gradients_of<Wide>(tiling, range, channels, d, dx);
}

NEUTRA_CLONES void kernels_narrow(std::size_t size, const float* g, float* result) {
  kernels_of<Narrow>(size, g, result);
}
NEUTRA_WIDE void kernels_wide(std::size_t size, const float* g, float* result) {
  kernels_of<Wide>(size, g, result);
}

NEUTRA_CLONES void kernel_gradients_narrow(std::size_t size, const float* u, float* dg) {
  kernel_gradients_of<Narrow>(size, u, dg);
}
NEUTRA_WIDE void kernel_gradients_wide(std::size_t size, const float* u, float* dg) {
  kernel_gradients_of<Wide>(size, u, dg);
}

}  // namespace

Tiling::Tiling(const Windows& windows)
    : height(static_cast<std::size_t>(windows.height.input)),
      width(static_cast<std::size_t>(windows.width.input)),
      output_height(static_cast<std::size_t>(windows.height.output)),
      output_width(static_cast<std::size_t>(windows.width.output)),
      top(windows.height.before),
      left(windows.width.before) {}

void inputs(const Tiling& tiling, Range range, std::size_t channels, const float* x, float* result,
            std::uint64_t* occupied) {
  (wide(channels) ? inputs_wide : inputs_narrow)(tiling, range, channels, x, result, occupied);
}

void outputs(const Tiling& tiling, Range range, std::size_t filters, const float* m,
             const float* bias, const std::uint64_t* occupied, float* y) {
  (wide(filters) ? outputs_wide : outputs_narrow)(tiling, range, filters, m, bias, occupied, y);
}

void output_gradients(const Tiling& tiling, Range range, std::size_t filters, const float* dy,
                      float* result, double* sums) {
  (wide(filters) ? output_gradients_wide : output_gradients_narrow)(tiling, range, filters, dy,
                                                                    result, sums);
}

void input_gradients(const Tiling& tiling, Range range, std::size_t channels, const float* d,
                     float* dx) {
  (wide(channels) ? input_gradients_wide : input_gradients_narrow)(tiling, range, channels, d, dx);
}

void kernels(std::size_t size, const float* g, float* result) {
  (wide(size) ? kernels_wide : kernels_narrow)(size, g, result);
}

void kernel_gradients(std::size_t size, const float* u, float* dg) {
  (wide(size) ? kernel_gradients_wide : kernel_gradients_narrow)(size, u, dg);
}

}  // namespace neutra::training::fused::winograd
