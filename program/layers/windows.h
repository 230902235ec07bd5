#pragma once

#include <optional>

#include "program/layers/fields.h"

/// What convolutions and poolings over images (height, width, channels) and sequences (steps,
/// channels) share.
namespace neutra::program::layer {

/// Largest kernel, stride or padding: keeps all products within 64 bits.
constexpr double kMaxWindow = 1 << 20;

constexpr std::size_t kSequence = 1, kImage = 2;  ///< axes that windows slide over

/// An extent for each axis; `fallback`: for all, null for null; without: must be given.
Field window_field(const std::string& name, std::size_t axes, std::optional<Json> fallback);
/// "padding", one of the words; the first is the default.
Field padding_field(std::vector<std::string> words = {"valid", "same"});
/// Has the input that many axes, and channels? Otherwise says so.
std::optional<Refusal> wrong_axes(const Shape& input, std::size_t axes);

/// What a window of `kernel` extents leaves of an input, with Keras's rule for "valid", "same" and
/// "causal". `kernel` is the field to blame.
std::variant<Shape, Refusal> slide(const Json& config, const std::string& kernel,
                                   const Shape& strides, const Shape& dilation, const Shape& input,
                                   std::int64_t channels);
/// The same for a convolution of `strides` and `dilation_rate`, one of which must be 1.
std::variant<Shape, Refusal> convolve(const Json& config, const Shape& input, std::int64_t filters);

}  // namespace neutra::program::layer
