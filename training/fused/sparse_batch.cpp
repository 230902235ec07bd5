#include "training/fused/sparse_batch.h"

#include <bit>

namespace neutra::training::fused {

void SparseBatch::take(const SparseRows& source, std::int64_t begin,
                       std::span<const std::int64_t> rows) {
  source_ = &source;
  refused_ = false;
  row_sums_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(begin + rows[i]);
    row_sums_.push_back({source.offsets[row], source.offsets[row + 1], i});
  }
}

void SparseBatch::sort() {
  std::size_t count = 0;
  for (const RowSum& row : row_sums_) {
    count += row.end - row.begin;
    for (std::size_t e = row.begin; e < row.end; ++e) {
      const std::uint32_t column = source_->columns[e];
      std::uint64_t& word = seen_[column / 64];
      const std::uint64_t bit = std::uint64_t{1} << (column % 64);
      places_[column] = word & bit ? places_[column] + 1 : 1;
      word |= bit;
    }
  }
  columns_.clear();
  column_sums_.clear();
  std::size_t end = 0;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    for (std::uint64_t word = seen_[i]; word != 0; word &= word - 1) {
      const std::size_t column = i * 64 + static_cast<std::size_t>(std::countr_zero(word));
      column_sums_.push_back({end, end, column});
      end += places_[column];
      places_[column] = static_cast<std::uint32_t>(columns_.size());
      columns_.push_back(static_cast<std::uint32_t>(column));
    }
    seen_[i] = 0;
  }
  column_rows_.resize(count);
  column_values_.resize(count);
  for (const RowSum& row : row_sums_) {
    for (std::size_t e = row.begin; e < row.end; ++e) {
      const std::size_t to = column_sums_[places_[source_->columns[e]]].end++;
      column_rows_[to] = static_cast<std::uint32_t>(row.row);
      column_values_[to] = source_->values[e];
    }
  }
}

}  // namespace neutra::training::fused
