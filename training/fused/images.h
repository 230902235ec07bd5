#pragma once

#include <cstddef>
#include <cstdint>

#include "training/fused/builder.h"
#include "training/layers/windows.h"

/// Loops over batches of images (rows, height, width, channels), compiled for several instruction
/// sets; results don't depend on the choice.
namespace neutra::training::fused {

/// The current tensor in rows; adds a step if it lies otherwise.
Tensor to_images(Builder& builder);
/// Steps of a layer over sequences, by those of the one over images.
void over_sequences(Builder& builder, const program::ResolvedLayer& layer, AddLayer images);

/// max_pool of training/layers/windows.h, over relu(x) if `relu`. `winners`, unless null, gets
/// for each value the cell of its window that the gradient goes to.
void max_pool(const Windows& windows, std::size_t rows, std::size_t channels, bool relu,
              const float* x, float* y, std::uint16_t* winners);
/// dx gets each dy at the cell that `winners` names, 0 elsewhere.
void max_pool_backward(const Windows& windows, std::size_t rows, std::size_t channels,
                       const std::uint16_t* winners, const float* dy, float* dx);
/// Cells of a window that `winners` can tell apart.
constexpr std::int64_t kLargestWindow = 1 << 15;

/// Both over images first .. first + rows - 1 of a batch. `at`: the image in whose place the first
/// one's values or gradients lie in `x`, where it isn't its own.
struct MaxPooling {
  Windows windows;
  Tensor x, y;
  std::uint16_t* winners;  ///< null where x needs no gradient
  void forward(std::size_t first, std::size_t at, std::size_t rows, bool training) const;
  void backward(std::size_t first, std::size_t at, std::size_t rows) const;
};

/// Rows, pixels and channels of a batch.
struct Extents {
  std::size_t rows, pixels, channels;
};
/// sums[c] = sum over rows and pixels of x - shift[c], squares[c] of its square; null shift: 0.
void channel_moments(const Extents& extents, const float* x, const float* shift, double* sums,
                     double* squares);
/// sums[c] = sum of dy, products[c] = sum of dy (x - mean[c]).
void channel_products(const Extents& extents, const float* x, const float* dy, const float* mean,
                      double* sums, double* products);
/// y = slope[c] (x - mean[c]) + offset[c].
void scale_channels(const Extents& extents, const float* x, const float* mean, const float* slope,
                    const float* offset, float* y);
/// dy = slope[c] dy + along[c] (x - mean[c]) + offset[c].
void combine_channels(const Extents& extents, const float* x, const float* mean, const float* slope,
                      const float* along, const float* offset, float* dy);

}  // namespace neutra::training::fused
