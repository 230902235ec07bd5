#pragma once

#include "program/layer.h"

/// What convolutions and poolings over images share.
namespace neutra::layer {

/// Largest kernel, stride or padding: keeps all products within 64 bits.
constexpr double kMaxWindow = 1 << 20;

Field window_field(const std::string& name, Json fallback);
Field padding_field();  ///< "valid" | "same"

/// Height and width of what a window of `kernel` extents leaves of an image (height, width,
/// channels), with Keras's rule for "valid" and "same". `kernel` is the field to blame.
std::variant<Shape, Refusal> slide(const Json& config, const std::string& kernel,
                                   const Shape& strides, const Shape& dilation, const Shape& image,
                                   std::int64_t channels);

}  // namespace neutra::layer
