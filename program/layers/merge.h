#pragma once

#include <cstddef>
#include <optional>

#include "program/program.h"

namespace neutra::program {

/// The shape that rows of two shapes have after they have been broadcast as Keras's merge layers
/// do it: extents are counted from the last one; 1 meets any other. nullopt: they don't fit.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

/// Which extent of a row of that rank a Concatenate's axis is.
std::size_t concatenation_axis(const Json& config, std::size_t rank);

}  // namespace neutra::program
