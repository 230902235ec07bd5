#pragma once

#include <cstdint>
#include <vector>

namespace neutra::training {

/// Numbers in one row of an array of these extents: the product of all but the first.
std::int64_t row_size(const std::vector<std::int64_t>& extents);

/// A dense float32 array, row-major: the first extent is the number of rows.
struct Array {
  std::vector<std::int64_t> extents;
  std::vector<float> values;
  /// 0 for an array without extents.
  std::int64_t rows() const { return extents.empty() ? 0 : extents.front(); }
  /// Numbers in one row; 1 where a row is a single number.
  std::int64_t row_size() const { return training::row_size(extents); }
};

}  // namespace neutra::training
