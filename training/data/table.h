#pragma once

#include <cstdint>
#include <vector>

namespace neutra::training {

constexpr double kMaxNumbers = 2147483648.0;  ///< that a table may have

/// How much of a source is read. Of its header only, tables have their extents and no numbers; 0
/// rows where the header doesn't say how many there are.
enum class Reading { kAll, kHeader };

/// A source's numbers before they are rounded to float32, row-major: the first extent is the number
/// of rows.
struct Table {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  std::int64_t rows() const { return extents.empty() ? 0 : extents.front(); }
  /// Numbers in one row; 1 where a row is a single number.
  std::int64_t row_size() const;
  /// The rows of `order`, in that order.
  Table select(const std::vector<std::int64_t>& order) const;
};

/// Features (x), targets (y) and weights of the same rows.
struct Part {
  Table x, y;
  Table weights = {};  ///< what the loss of each row counts; no extents: all count alike
  /// The rows of `order`, in that order.
  Part select(const std::vector<std::int64_t>& order) const;
};

/// What a source delivers: all rows in `train` and nothing in `test`, or both parts.
struct RawData {
  Part train, test;
  bool parted = false;  ///< both parts
};

}  // namespace neutra::training
