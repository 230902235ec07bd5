#include "training/sparse_rows.h"

namespace neutra::training {

std::optional<SparseRows> sparse_rows(const Array& array) {
  const auto width = static_cast<std::size_t>(array.rows() > 0 ? array.row_size() : 0);
  if (width < static_cast<std::size_t>(kSparseFeatures)) return std::nullopt;
  std::size_t count = 0;
  for (const float value : array.values) count += value != 0 ? 1 : 0;
  if (static_cast<double>(count) > kSparseDensity * static_cast<double>(array.values.size())) {
    return std::nullopt;
  }
  SparseRows rows;
  rows.columns.reserve(count);
  rows.values.reserve(count);
  rows.offsets.reserve(static_cast<std::size_t>(array.rows()) + 1);
  rows.offsets.push_back(0);
  for (const float* row = array.values.data(); row != array.values.data() + array.values.size();
       row += width) {
    for (std::size_t k = 0; k < width; ++k) {
      if (row[k] == 0) continue;
      rows.columns.push_back(static_cast<std::uint32_t>(k));
      rows.values.push_back(row[k]);
    }
    rows.offsets.push_back(rows.columns.size());
  }
  return rows;
}

SparseDataset::SparseDataset(const Dataset& data)
    : x_train(sparse_rows(data.x_train)),
      x_test(sparse_rows(data.x_test)),
      x_holdout(sparse_rows(data.x_holdout)),
      x_validation(sparse_rows(data.x_validation)) {}

}  // namespace neutra::training
