#pragma once

#include <vector>

#include "training/data/table.h"

namespace neutra::training {

/// Mean, population standard deviation and extent of each column of a table, over the numbers that
/// are finite: NaN is a missing value, as for scikit-learn's scalers. A column without any has the
/// mean NaN, and min > max.
struct Columns {
  std::vector<double> mean, stddev, min, max;
};
Columns describe_columns(const Table& table);

}  // namespace neutra::training
