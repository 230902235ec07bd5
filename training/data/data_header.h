#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "program/program.h"

namespace neutra::training {

/// What the headers of a program's data tell of the rows, before any of them is read.
struct DataHeader {
  program::Shape x, y;  ///< of one row, as DataInfo has them
  /// Rows of each part; nullopt where only reading the file would tell. Training rows are those
  /// before `mutations`; `validation` is nullopt, too, where the section names no such rows.
  std::optional<std::int64_t> training, validation, test, holdout;
};

/// Of a `data` section, as load_dataset() reads it. Throws like that, as far as headers go.
DataHeader read_data_header(const Json& data,
                            const std::vector<std::filesystem::path>& search_path);

}  // namespace neutra::training
