#include "training/fused/images.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "training/clones.h"
#include "training/fused/vectors.h"

namespace neutra::training::fused {
namespace {

/// One value or a vector of them, so that a loop is written once for both.
struct One {
  using Value = float;
  using Index = std::int32_t;
  static constexpr std::size_t kLanes = 1;
  static NEUTRA_INLINE float load(const float* p) { return *p; }
  static NEUTRA_INLINE void store(float* p, float v) { *p = v; }
  static NEUTRA_INLINE std::int32_t load(const std::uint16_t* p) { return *p; }
  static NEUTRA_INLINE void store(std::uint16_t* p, std::int32_t v) {
    *p = static_cast<std::uint16_t>(v);
  }
};
struct Many {
  using Value = Floats;
  using Index = Ints;
  static constexpr std::size_t kLanes = kWidth;
  static NEUTRA_INLINE Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
  static NEUTRA_INLINE void store(float* p, Floats v) { *reinterpret_cast<Floats*>(p) = v; }
  static NEUTRA_INLINE Ints load(const std::uint16_t* p) {
    return __builtin_convertvector(*reinterpret_cast<const Shorts*>(p), Ints);
  }
  static NEUTRA_INLINE void store(std::uint16_t* p, Ints v) {
    *reinterpret_cast<Shorts*>(p) = __builtin_convertvector(v, Shorts);
  }
};

/// Calls visit(One or Many, c) for all channels.
template <typename Visit>
NEUTRA_INLINE void for_lanes(std::size_t count, Visit visit) {
  std::size_t c = 0;
  for (; c + kWidth <= count; c += kWidth) visit(Many{}, c);
  for (; c < count; ++c) visit(One{}, c);
}

/// Calls visit(first, h0, h1, w0, w1, pixel) for every window: the image's first cell, the window's
/// rows and columns, the output's cell.
template <typename Visit>
NEUTRA_INLINE void for_windows(const Windows& windows, std::size_t rows, Visit visit) {
  const WindowAxis &height = windows.height, &width = windows.width;
  std::int64_t pixel = 0;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
    const std::int64_t first = row * height.input * width.input;
    for (std::int64_t i = 0; i < height.output; ++i) {
      const std::int64_t top = i * height.stride - height.before;
      const std::int64_t h0 = std::max<std::int64_t>(0, top);
      const std::int64_t h1 = std::min(height.input, top + height.window);
      for (std::int64_t j = 0; j < width.output; ++j, ++pixel) {
        const std::int64_t left = j * width.stride - width.before;
        visit(first, h0, h1, std::max<std::int64_t>(0, left),
              std::min(width.input, left + width.window), pixel);
      }
    }
  }
}

constexpr std::int32_t kDead = 1 << 15;  ///< bit of a winner whose relu has no slope

template <bool kRelu, bool kWinners>
NEUTRA_INLINE void pool(const Windows& windows, std::size_t rows, std::size_t count, const float* x,
                        float* y, std::uint16_t* winners) {
  const auto channels = static_cast<std::int64_t>(count);
  const std::int64_t line = windows.width.input;
  for_windows(windows, rows,
              [=](std::int64_t first, std::int64_t h0, std::int64_t h1, std::int64_t w0,
                  std::int64_t w1, std::int64_t pixel) NEUTRA_INLINED {
                for_lanes(count, [=](auto lanes, std::size_t c) NEUTRA_INLINED {
                  using L = decltype(lanes);
                  using V = typename L::Value;
                  using I = typename L::Index;
                  const auto rectified = [](V v) NEUTRA_INLINED {
                    return kRelu ? (v < 0 ? V{} : v) : v;
                  };
                  const float* from = x + (first + h0 * line + w0) * channels + c;
                  const V begin = rectified(L::load(from));
                  V largest = V{} + std::numeric_limits<float>::lowest(), best = begin;
                  I winner{}, cell{};
                  for (std::int64_t h = h0; h < h1; ++h, from += line * channels) {
                    const float* at = from;
                    for (std::int64_t w = w0; w < w1; ++w, at += channels) {
                      const V v = rectified(L::load(at));
                      largest = largest < v ? v : largest;
                      if constexpr (kWinners) {
                        const auto larger = best < v;
                        winner = larger ? cell : winner;
                        best = larger ? v : best;
                        cell += 1;
                      }
                    }
                  }
                  L::store(y + pixel * channels + c, largest);
                  if constexpr (kWinners) {
                    if constexpr (kRelu) winner = best > 0 ? winner : winner + kDead;
                    L::store(winners + pixel * channels + c, winner);
                  }
                });
              });
}

/// `kTiled`: every cell lies in exactly one window, so that its gradient need not be added up.
template <bool kTiled>
NEUTRA_INLINE void pool_backward(const Windows& windows, std::size_t rows, std::size_t count,
                                 const std::uint16_t* winners, const float* dy, float* dx) {
  const auto channels = static_cast<std::int64_t>(count);
  const std::int64_t line = windows.width.input;
  for_windows(windows, rows,
              [=](std::int64_t first, std::int64_t h0, std::int64_t h1, std::int64_t w0,
                  std::int64_t w1, std::int64_t pixel) NEUTRA_INLINED {
                for_lanes(count, [=](auto lanes, std::size_t c) NEUTRA_INLINED {
                  using L = decltype(lanes);
                  using V = typename L::Value;
                  using I = typename L::Index;
                  const I packed = L::load(winners + pixel * channels + c);
                  const I winner = packed & (kDead - 1);
                  V gradient = L::load(dy + pixel * channels + c);
                  gradient = packed >= kDead ? gradient * 0 : gradient;
                  float* to = dx + (first + h0 * line + w0) * channels + c;
                  I cell{};
                  for (std::int64_t h = h0; h < h1; ++h, to += line * channels) {
                    float* at = to;
                    for (std::int64_t w = w0; w < w1; ++w, at += channels) {
                      const V share = winner == cell ? gradient : V{};
                      L::store(at, kTiled ? share : L::load(at) + share);
                      cell += 1;
                    }
                  }
                });
              });
}

/// Calls visit(One or Many, channel, index of the first pixel's value) for each row and channel.
template <typename Visit>
NEUTRA_INLINE void for_channels(const Extents& e, Visit visit) {
  for (std::size_t row = 0; row < e.rows; ++row) {
    for_lanes(e.channels, [&](auto lanes, std::size_t c)
                              NEUTRA_INLINED { visit(lanes, c, row * e.pixels * e.channels + c); });
  }
}

}  // namespace

Tensor to_images(Builder& builder) {
  const Tensor& x = builder.current();
  return x.layout == Layout::kColumns ? to_rows(builder) : x;
}

void over_sequences(Builder& builder, const program::ResolvedLayer& layer, AddLayer images) {
  const program::ResolvedLayer image_layer = as_image_layer(layer);
  rename(builder, image_layer.input_shape);
  images(builder, image_layer);
  rename(builder, layer.output_shape);
}

NEUTRA_CLONES void max_pool(const Windows& windows, std::size_t rows, std::size_t channels,
                            bool relu, const float* x, float* y, std::uint16_t* winners) {
  if (winners == nullptr) {
    return relu ? pool<true, false>(windows, rows, channels, x, y, nullptr)
                : pool<false, false>(windows, rows, channels, x, y, nullptr);
  }
  return relu ? pool<true, true>(windows, rows, channels, x, y, winners)
              : pool<false, true>(windows, rows, channels, x, y, winners);
}

NEUTRA_CLONES void max_pool_backward(const Windows& windows, std::size_t rows, std::size_t channels,
                                     const std::uint16_t* winners, const float* dy, float* dx) {
  if (windows.height.tiled() && windows.width.tiled()) {
    return pool_backward<true>(windows, rows, channels, winners, dy, dx);
  }
  const auto cells = static_cast<std::size_t>(windows.height.input * windows.width.input);
  std::fill_n(dx, rows * cells * channels, 0.0f);
  pool_backward<false>(windows, rows, channels, winners, dy, dx);
}

NEUTRA_CLONES void channel_moments(const Extents& e, const float* x, const float* shift,
                                   double* sums, double* squares) {
  std::fill_n(sums, e.channels, 0.0);
  std::fill_n(squares, e.channels, 0.0);
  for_channels(e, [&](auto lanes, std::size_t channel, std::size_t first) NEUTRA_INLINED {
    using L = decltype(lanes);
    using V = typename L::Value;
    const V from = shift ? L::load(shift + channel) : V{};
    V sum{}, square{};
    for (std::size_t p = 0; p < e.pixels; ++p) {
      const V d = L::load(x + first + p * e.channels) - from;
      sum += d;
      square += d * d;
    }
    add(sums + channel, sum);
    add(squares + channel, square);
  });
}

NEUTRA_CLONES void channel_products(const Extents& e, const float* x, const float* dy,
                                    const float* mean, double* sums, double* dots) {
  std::fill_n(sums, e.channels, 0.0);
  std::fill_n(dots, e.channels, 0.0);
  for_channels(e, [&](auto lanes, std::size_t channel, std::size_t first) NEUTRA_INLINED {
    using L = decltype(lanes);
    using V = typename L::Value;
    const V m = L::load(mean + channel);
    V sum{}, dot{};
    for (std::size_t p = 0; p < e.pixels; ++p) {
      const V g = L::load(dy + first + p * e.channels);
      sum += g;
      dot += g * (L::load(x + first + p * e.channels) - m);
    }
    add(sums + channel, sum);
    add(dots + channel, dot);
  });
}

NEUTRA_CLONES void scale_channels(const Extents& e, const float* x, const float* mean,
                                  const float* slope, const float* offset, float* y) {
  for_channels(e, [&](auto lanes, std::size_t channel, std::size_t first) NEUTRA_INLINED {
    using L = decltype(lanes);
    const auto m = L::load(mean + channel), a = L::load(slope + channel);
    const auto b = L::load(offset + channel);
    for (std::size_t p = 0; p < e.pixels; ++p) {
      const std::size_t at = first + p * e.channels;
      L::store(y + at, (L::load(x + at) - m) * a + b);
    }
  });
}

NEUTRA_CLONES void combine_channels(const Extents& e, const float* x, const float* mean,
                                    const float* slope, const float* along, const float* offset,
                                    float* dy) {
  for_channels(e, [&](auto lanes, std::size_t channel, std::size_t first) NEUTRA_INLINED {
    using L = decltype(lanes);
    const auto m = L::load(mean + channel), a = L::load(slope + channel);
    const auto b = L::load(along + channel), c = L::load(offset + channel);
    for (std::size_t p = 0; p < e.pixels; ++p) {
      const std::size_t at = first + p * e.channels;
      L::store(dy + at, L::load(dy + at) * a + (L::load(x + at) - m) * b + c);
    }
  });
}

}  // namespace neutra::training::fused
