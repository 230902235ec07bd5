#pragma once

#include <cstddef>
#include <cstdint>

#include "training/layers/windows.h"

/// Winograd's minimal filtering F(4 x 4, 3 x 3) over images in Keras's order (rows, height, width,
/// channels): Y = A^T [(G g G^T) . (B^T d B)] A for each tile of 4 x 4 outputs, which sees 6 x 6
/// inputs, summed over channels: 36 multiplications in place of 144. The sums are products of
/// matrices, one for each of the 36 points; a point's matrices lie one after the other. The
/// backward passes are the exact gradients of these formulas. Source: Lavin and Gray, "Fast
/// algorithms for convolutional neural networks", CVPR 2016.
namespace neutra::training::fused::winograd {

constexpr std::size_t kPoints = 36;

/// The tiles of a batch; numbered row by row.
struct Tiling {
  std::size_t height, width;  ///< of the input
  std::size_t output_height, output_width;
  std::ptrdiff_t top, left;  ///< padding
  explicit Tiling(const Windows& windows);
  std::size_t down() const { return (output_height + 3) / 4; }
  std::size_t across() const { return (output_width + 3) / 4; }
  std::size_t tiles() const { return down() * across(); }  ///< of one image
};

/// Tiles first .. first + count - 1.
struct Range {
  std::size_t first, count;
};

// Channels and filters are multiples of 8. (points, a, b) says how a result lies.

/// B^T d B of the tiles' inputs: (points, count, channels). `occupied`, unless null: for each tile,
/// a bit for each of its 36 cells in which any channel isn't zero.
void inputs(const Tiling& tiling, Range range, std::size_t channels, const float* x, float* result,
            std::uint64_t* occupied);
/// y = A^T m A + bias (null: 0), of m (points, count, filters). A window of zeros gives the bias
/// exactly, as a plain convolution does: a ReLU behind it must pass no gradient there.
void outputs(const Tiling& tiling, Range range, std::size_t filters, const float* m,
             const float* bias, const std::uint64_t* occupied, float* y);
/// A dy A^T: (points, count, filters). Adds dy to `sums`, one for each filter.
void output_gradients(const Tiling& tiling, Range range, std::size_t filters, const float* dy,
                      float* result, double* sums);
/// dx += B d B^T, of d (points, count, channels).
void input_gradients(const Tiling& tiling, Range range, std::size_t channels, const float* d,
                     float* dx);
/// G g G^T of `size` kernels that lie side by side, (3, 3, size) to (points, size), and the
/// gradient's way back.
void kernels(std::size_t size, const float* g, float* result);
void kernel_gradients(std::size_t size, const float* u, float* dg);

}  // namespace neutra::training::fused::winograd
