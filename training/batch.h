#pragma once

#include <cstddef>
#include <span>

#include "program/program.h"

namespace neutra::training {

/// A batch of outputs or targets: row-major floats with extents that include the batch.
struct Batch {
  std::span<const float> values;
  program::Shape extents;
  /// Of outputs with a mask: does a step of a row, extents[0] times extents[1] of them, count for
  /// metrics? Empty: all do.
  std::span<const bool> counts = {};
};

/// Index of the largest value, ignoring NaN; the first of equal ones; 0 where there is none.
std::size_t argmax(std::span<const float> values);

}  // namespace neutra::training
