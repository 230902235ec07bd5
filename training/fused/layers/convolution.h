#pragma once

#include <cstdint>
#include <memory>

#include "training/fused/builder.h"
#include "training/layers/windows.h"

namespace neutra::training::fused {

/// Steps of a Conv2D over the current tensor, whose variables need not be the first of its layer.
void add_convolution(Builder& builder, const program::ResolvedLayer& layer, Parameter kernel,
                     Parameter bias);

/// A convolution over images (rows, height, width, channels) with a kernel in Keras's order:
/// (height, width, channels of a group, filters), the groups side by side.
struct ConvolutionGeometry {
  std::int64_t channels, filters, groups;
  Windows windows;
  bool bias;

  explicit ConvolutionGeometry(const program::ResolvedLayer& conv_2d);
};

/// The tensors and variables of a convolution's step: y = x * kernel + bias.
struct ConvolutionParts {
  Tensor x, y;
  Parameter kernel, bias;
  bool trainable;  ///< does the loss give the kernel a gradient?
};

/// The step by primitives of oneDNN. Throws NotCovered for what oneDNN refuses.
std::unique_ptr<Step> onednn_convolution(Builder& builder, const ConvolutionGeometry& geometry,
                                         const ConvolutionParts& parts);
/// The step that gives y what a convolution over y would give its input as gradient, and a bias.
/// `turned`: the geometry of that convolution. Throws NotCovered for what oneDNN refuses.
std::unique_ptr<Step> onednn_transposed_convolution(Builder& builder,
                                                    const ConvolutionGeometry& turned,
                                                    const ConvolutionParts& parts);

/// Does Winograd's algorithm take at most half the multiplications? Kernels of 3 x 3 that move cell
/// by cell alone; `for_data`: the input needs a gradient, too.
bool suits_winograd(const ConvolutionGeometry& geometry, bool for_data);
/// The step by Winograd's algorithm. Precondition: suits_winograd().
std::unique_ptr<Step> winograd_convolution(Builder& builder, const ConvolutionGeometry& geometry,
                                           const ConvolutionParts& parts);

}  // namespace neutra::training::fused
