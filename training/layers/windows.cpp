#include "training/layers/windows.h"

#include <algorithm>
#include <limits>

#include "training/clones.h"

namespace neutra::training {
namespace {

WindowAxis make_axis(std::int64_t input, std::int64_t output, std::int64_t window,
                     std::int64_t stride, std::int64_t dilation, const std::string& padding_rule) {
  WindowAxis axis{input, output, window, stride, dilation};
  if (padding_rule == "causal") {
    axis.before = (window - 1) * dilation;
  } else if (padding_rule == "same") {
    const std::int64_t reach = (output - 1) * stride + (window - 1) * dilation + 1;
    const std::int64_t padding = std::max<std::int64_t>(0, reach - input);
    axis.before = padding / 2;
    axis.after = padding - axis.before;
  }
  return axis;
}

/// Calls visit(image, h0, h1, w0, w1, pixel) for every window: the image's first cell, the window's
/// rows and columns, the output's cell.
template <typename Visit>
inline __attribute__((always_inline)) void for_each_window(const Windows& windows,
                                                           std::int64_t rows, Visit visit) {
  const WindowAxis &height = windows.height, &width = windows.width;
  std::int64_t pixel = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < height.output; ++i) {
      for (std::int64_t j = 0; j < width.output; ++j, ++pixel) {
        visit(row * height.input * width.input, height.begin(i), height.end(i), width.begin(j),
              width.end(j), pixel);
      }
    }
  }
}

constexpr std::int64_t kChunk = 64;  ///< channels side by side: stays in the first cache

std::size_t input_size(const Windows& windows, std::int64_t rows, std::int64_t channels) {
  return static_cast<std::size_t>(rows * windows.height.input * windows.width.input * channels);
}

void put_one_before(program::Shape& shape) { shape.insert(shape.begin(), 1); }

/// A convolution over single cells: `image` to the same with other channels.
program::ResolvedLayer pointwise(program::ResolvedLayer layer, program::Shape image,
                                 std::int64_t filters) {
  layer.class_name = "Conv2D";
  layer.input_shape = image;
  image.back() = filters;
  layer.output_shape = std::move(image);
  layer.config["kernel_size"] = layer.config["strides"] = layer.config["dilation_rate"] = {1, 1};
  layer.config["padding"] = "valid";
  layer.config["groups"] = 1;
  layer.weights[0].shape = {1, 1, layer.input_shape.back(), filters};
  return layer;
}

}  // namespace

program::ResolvedLayer as_image_layer(const program::ResolvedLayer& layer) {
  program::ResolvedLayer image = layer;
  image.class_name.replace(image.class_name.find("1D"), 2, "2D");
  put_one_before(image.input_shape);
  if (image.output_shape.size() > 1) put_one_before(image.output_shape);
  for (const char* field : {"kernel_size", "pool_size", "strides", "dilation_rate"}) {
    const auto extents = image.config.find(field);
    if (extents != image.config.end() && extents->is_array()) extents->insert(extents->begin(), 1);
  }
  if (!image.weights.empty()) put_one_before(image.weights[0].shape);
  return image;
}

program::ResolvedLayer as_grouped(const program::ResolvedLayer& layer) {
  program::ResolvedLayer grouped = layer;
  grouped.class_name = "Conv2D";
  program::Shape& kernel = grouped.weights[0].shape;
  grouped.config["groups"] = kernel[2];
  grouped.config["filters"] = kernel[2] * kernel[3];
  kernel = {kernel[0], kernel[1], 1, kernel[2] * kernel[3]};
  return grouped;
}

SeparableParts separable_parts(const program::ResolvedLayer& layer) {
  program::ResolvedLayer depthwise = layer;
  program::Shape& image = depthwise.output_shape;
  image.back() = layer.weights[1].shape[2];
  depthwise.weights.resize(1);
  depthwise.config["activation"] = "linear";
  depthwise.config["use_bias"] = false;
  program::ResolvedLayer rest = layer;
  rest.weights.erase(rest.weights.begin());
  return {as_grouped(depthwise), pointwise(std::move(rest), image, layer.output_shape.back())};
}

program::ResolvedLayer as_pointwise(const program::ResolvedLayer& dense) {
  const std::int64_t channels = dense.input_shape.back();
  std::int64_t cells = 1;
  for (std::size_t i = 0; i + 1 < dense.input_shape.size(); ++i) cells *= dense.input_shape[i];
  return pointwise(dense, {1, cells, channels}, dense.output_shape.back());
}

std::int64_t WindowAxis::begin(std::int64_t position) const {
  return std::max<std::int64_t>(0, position * stride - before);
}
std::int64_t WindowAxis::end(std::int64_t position) const {
  return std::min(input, position * stride - before + window);
}

bool WindowAxis::tiled() const { return stride == window && output * stride >= input + before; }

Windows sliding_windows(const program::ResolvedLayer& layer, const char* window_field) {
  const Json& config = layer.config;
  const std::string padding = config.at("padding");
  const auto window = config.at(window_field).get<program::Shape>();
  const Json& strides = config.at("strides");
  const auto stride = strides.is_null() ? window : strides.get<program::Shape>();
  const auto dilation = config.value("dilation_rate", program::Shape{1, 1});
  auto axis = [&](std::size_t i) {
    return make_axis(layer.input_shape[i], layer.output_shape[i], window[i], stride[i], dilation[i],
                     padding);
  };
  return {axis(0), axis(1)};
}

Windows transposed_windows(const program::ResolvedLayer& layer) {
  program::ResolvedLayer convolution = layer;
  std::swap(convolution.input_shape, convolution.output_shape);
  return sliding_windows(convolution, "kernel_size");
}

NEUTRA_CLONES void max_pool(const Windows& windows, std::int64_t rows, std::int64_t channels,
                            const float* x, float* y) {
  const std::int64_t line = windows.width.input;
  for_each_window(windows, rows,
                  [=](std::int64_t image, std::int64_t h0, std::int64_t h1, std::int64_t w0,
                      std::int64_t w1, std::int64_t pixel) {
                    float* to = y + pixel * channels;
                    std::fill(to, to + channels, std::numeric_limits<float>::lowest());
                    for (std::int64_t h = h0; h < h1; ++h) {
                      for (std::int64_t w = w0; w < w1; ++w) {
                        const float* from = x + (image + h * line + w) * channels;
                        for (std::int64_t c = 0; c < channels; ++c) {
                          to[c] = to[c] < from[c] ? from[c] : to[c];
                        }
                      }
                    }
                  });
}

NEUTRA_CLONES void max_pool_backward(const Windows& windows, std::int64_t rows,
                                     std::int64_t channels, const float* x, const float* dy,
                                     float* dx) {
  // Where each cell lies in one window its gradient need not be added up.
  const bool tiled = windows.height.tiled() && windows.width.tiled();
  if (!tiled) std::fill(dx, dx + input_size(windows, rows, channels), 0.0f);
  const std::int64_t line = windows.width.input;
  for_each_window(windows, rows,
                  [=](std::int64_t image, std::int64_t h0, std::int64_t h1, std::int64_t w0,
                      std::int64_t w1, std::int64_t pixel) {
                    for (std::int64_t begin = 0; begin < channels; begin += kChunk) {
                      const std::int64_t count = std::min(kChunk, channels - begin);
                      float best[kChunk];
                      std::int32_t winner[kChunk];
                      const float* first = x + (image + h0 * line + w0) * channels + begin;
                      for (std::int64_t c = 0; c < count; ++c) {
                        best[c] = first[c];
                        winner[c] = 0;
                      }
                      std::int32_t cell = 0;
                      for (std::int64_t h = h0; h < h1; ++h) {
                        for (std::int64_t w = w0; w < w1; ++w, ++cell) {
                          const float* from = x + (image + h * line + w) * channels + begin;
                          for (std::int64_t c = 0; c < count; ++c) {
                            const bool larger = best[c] < from[c];
                            winner[c] = larger ? cell : winner[c];
                            best[c] = larger ? from[c] : best[c];
                          }
                        }
                      }
                      const float* gradient = dy + pixel * channels + begin;
                      cell = 0;
                      for (std::int64_t h = h0; h < h1; ++h) {
                        for (std::int64_t w = w0; w < w1; ++w, ++cell) {
                          float* to = dx + (image + h * line + w) * channels + begin;
                          if (tiled) {
                            for (std::int64_t c = 0; c < count; ++c) {
                              to[c] = winner[c] == cell ? gradient[c] : 0.0f;
                            }
                          } else {
                            for (std::int64_t c = 0; c < count; ++c) {
                              to[c] += winner[c] == cell ? gradient[c] : 0.0f;
                            }
                          }
                        }
                      }
                    }
                  });
}

NEUTRA_CLONES void average_pool(const Windows& windows, std::int64_t rows, std::int64_t channels,
                                const float* x, float* y) {
  const std::int64_t line = windows.width.input;
  for_each_window(windows, rows,
                  [=](std::int64_t image, std::int64_t h0, std::int64_t h1, std::int64_t w0,
                      std::int64_t w1, std::int64_t pixel) {
                    float* to = y + pixel * channels;
                    std::fill(to, to + channels, 0.0f);
                    for (std::int64_t h = h0; h < h1; ++h) {
                      for (std::int64_t w = w0; w < w1; ++w) {
                        const float* from = x + (image + h * line + w) * channels;
                        for (std::int64_t c = 0; c < channels; ++c) to[c] += from[c];
                      }
                    }
                    const auto cells = static_cast<float>((h1 - h0) * (w1 - w0));
                    for (std::int64_t c = 0; c < channels; ++c) to[c] /= cells;
                  });
}

NEUTRA_CLONES void average_pool_backward(const Windows& windows, std::int64_t rows,
                                         std::int64_t channels, const float* dy, float* dx) {
  std::fill(dx, dx + input_size(windows, rows, channels), 0.0f);
  const std::int64_t line = windows.width.input;
  for_each_window(windows, rows,
                  [=](std::int64_t image, std::int64_t h0, std::int64_t h1, std::int64_t w0,
                      std::int64_t w1, std::int64_t pixel) {
                    const float* from = dy + pixel * channels;
                    const float share = 1.0f / static_cast<float>((h1 - h0) * (w1 - w0));
                    for (std::int64_t h = h0; h < h1; ++h) {
                      for (std::int64_t w = w0; w < w1; ++w) {
                        float* to = dx + (image + h * line + w) * channels;
                        for (std::int64_t c = 0; c < channels; ++c) to[c] += from[c] * share;
                      }
                    }
                  });
}

}  // namespace neutra::training
