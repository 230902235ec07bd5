#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "training/data/dataset.h"

namespace neutra::training {

/// Arrays with rows at least this wide are looked at ...
constexpr std::int64_t kSparseFeatures = 1024;
/// ... and kept as sparse rows too, where at most this part of their values isn't zero.
constexpr double kSparseDensity = 0.05;

/// The values of an array's rows that aren't zero (NaN is not, -0.0 is), row by row in the order of
/// their columns.
struct SparseRows {
  std::vector<std::size_t> offsets;    ///< of each row's first value; one more for the end
  std::vector<std::uint32_t> columns;  ///< of each value
  std::vector<float> values;
};

/// nullopt where the array is too narrow or too dense.
std::optional<SparseRows> sparse_rows(const Array& array);

/// The inputs of a data set as sparse rows, where that is worth it.
struct SparseDataset {
  SparseDataset() = default;
  /// Looks at all arrays of inputs.
  explicit SparseDataset(const Dataset& data);
  std::optional<SparseRows> x_train, x_test, x_holdout, x_validation;
};

}  // namespace neutra::training
