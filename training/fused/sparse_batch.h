#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/fused/kernels.h"
#include "training/sparse_rows.h"

namespace neutra::training::fused {

/// A batch of sparse rows, by row for a product with a kernel and by column for its gradient.
class SparseBatch {
 public:
  /// `features`: of a row.
  explicit SparseBatch(std::size_t features) : places_(features), seen_((features + 63) / 64) {}

  /// Takes the rows begin + rows[i] of `source`, which must outlive the batch.
  void take(const SparseRows& source, std::int64_t begin, std::span<const std::int64_t> rows);
  /// Sorts them by column, too: sets columns() and column_sums().
  void sort();

  /// values()[e] at column indices()[e]: row i of the batch is row_sums()[i].
  std::span<const RowSum> row_sums() const { return row_sums_; }
  const std::uint32_t* indices() const { return source_->columns.data(); }
  const float* values() const { return source_->values.data(); }

  /// Columns in which some row of the batch has a value, ascending.
  std::span<const std::uint32_t> columns() const { return columns_; }
  /// column_values()[e] in row column_rows()[e] of the batch, rows ascending.
  std::span<const RowSum> column_sums() const { return column_sums_; }
  const std::uint32_t* column_rows() const { return column_rows_.data(); }
  const float* column_values() const { return column_values_.data(); }

  /// What a backward pass says where a zero in the inputs meets a gradient that isn't finite: then
  /// only a dense batch gives the NaN that it should.
  void refuse() { refused_ = true; }
  bool refused() const { return refused_; }

 private:
  const SparseRows* source_ = nullptr;
  bool refused_ = false;
  std::vector<RowSum> row_sums_, column_sums_;
  std::vector<std::uint32_t> columns_, column_rows_;
  std::vector<float> column_values_;
  std::vector<std::uint32_t> places_;  ///< of each column: its values, then its place in columns_
  std::vector<std::uint64_t> seen_;    ///< a bit for each column
};

}  // namespace neutra::training::fused
