#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace neutra::program {

/// An array of float32 numbers in C order.
struct PickledArray {
  std::vector<std::int64_t> extents;  ///< its shape
  std::span<const float> values;      ///< as many as the product of the extents
};

/// What pickle.load of Python 3.4 and later makes this JSON value of: dict, list, str, int, float,
/// bool, None. Protocol 4 (PEP 3154).
std::string pickle(const Json& value);
/// A dict of NumPy arrays.
std::string pickle(const std::vector<std::pair<std::string, PickledArray>>& arrays);

/// Lists of whole numbers, one behind the other.
struct PickledLists {
  std::vector<std::int64_t> numbers;  ///< of all lists
  std::vector<std::size_t> ends;      ///< of each list in `numbers`
};

/// Reads the pickle of a NumPy array whose items are lists, tuples or arrays of whole numbers, or
/// such numbers (lists of one): protocols 2 to 5, of Python 2 and 3, of NumPy 1 and 2. It runs
/// nothing: it knows the few names that such arrays need and refuses all others, builds no more
/// than lists, and bounds what it makes. `offset`: of the bytes in `file`, for messages. Throws
/// input_error that names file, byte, what was found and what is allowed.
PickledLists unpickle_lists(std::string_view bytes, const std::string& file,
                            std::uint64_t offset = 0);

}  // namespace neutra::program
