#pragma once

#include <cstdint>

#include "program/program.h"

namespace neutra::training {

// Layers whose work a layer over images does. Their variables lie in memory as that one's do.

/// A layer over sequences (steps, channels), such as Conv1D, as the one over images of one row.
program::ResolvedLayer as_image_layer(const program::ResolvedLayer& layer);
/// DepthwiseConv2D as a Conv2D with a group for each channel.
program::ResolvedLayer as_grouped(const program::ResolvedLayer& layer);
/// SeparableConv2D as one of those (variable 0) and a Conv2D over single cells (the others).
struct SeparableParts {
  program::ResolvedLayer depthwise, pointwise;
};
SeparableParts separable_parts(const program::ResolvedLayer& layer);
/// Dense along the last axis of several as a Conv2D over single cells.
program::ResolvedLayer as_pointwise(const program::ResolvedLayer& dense);

/// Windows that slide over one axis of an image.
struct WindowAxis {
  std::int64_t input = 0, output = 0;  ///< extents
  std::int64_t window = 1, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  ///< padding

  std::int64_t begin(std::int64_t position) const;  ///< first cell of the input it covers
  std::int64_t end(std::int64_t position) const;    ///< one past the last; without dilation
  bool tiled() const;                               ///< does every cell lie in exactly one window?
};

/// Windows over the height and width of images (rows, height, width, channels).
struct Windows {
  WindowAxis height, width;
};

/// Those of a convolution ("kernel_size") or pooling ("pool_size") over images. Padding "same" adds
/// what the last window lacks, the odd cell at the end; "causal" adds all before, so that no window
/// sees a later cell. Sources: TensorFlow 2.4 core/framework/common_shape_fns.cc,
/// GetWindowedOutputSize; tf.keras 2.4 layers/convolutional.py, Conv1D.
Windows sliding_windows(const program::ResolvedLayer& layer, const char* window_field);

/// Those of the convolution that a Conv2DTranspose turns round: its input is the layer's output.
Windows transposed_windows(const program::ResolvedLayer& layer);

/// Poolings over contiguous images (rows, height, width, channels). Cells outside the image don't
/// count. Backward passes write the whole input gradient.
/// Source: TensorFlow 2.4 core/kernels/pooling_ops_common.h, maxpooling_op.cc, avgpooling_op.cc.

/// The largest of the lowest float and the window's values; NaN never wins.
void max_pool(const Windows& windows, std::int64_t rows, std::int64_t channels, const float* x,
              float* y);
/// The gradient goes to the first of the largest values; to the window's first cell if that is NaN.
void max_pool_backward(const Windows& windows, std::int64_t rows, std::int64_t channels,
                       const float* x, const float* dy, float* dx);
void average_pool(const Windows& windows, std::int64_t rows, std::int64_t channels, const float* x,
                  float* y);
void average_pool_backward(const Windows& windows, std::int64_t rows, std::int64_t channels,
                           const float* dy, float* dx);

}  // namespace neutra::training
