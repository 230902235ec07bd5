#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/json.h"

namespace neutra {

/// An array of float32 numbers in C order.
struct PickledArray {
  std::vector<std::int64_t> extents;
  std::span<const float> values;
};

/// What pickle.load of Python 3.4 and later makes this JSON value of: dict, list, str, int, float,
/// bool, None. Protocol 4 (PEP 3154).
std::string pickle(const Json& value);
/// A dict of NumPy arrays.
std::string pickle(const std::vector<std::pair<std::string, PickledArray>>& arrays);

}  // namespace neutra
