#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

/// How to read a CSV file (docs/formats/data.md).
struct CsvOptions {
  std::optional<bool> header;  ///< nullopt: a first line with a field that is no number is one
  char delimiter = ',';
  char decimal = '.';        ///< '.' or ','
  std::vector<Json> target;  ///< names or 0-based indices; default: the last column
  std::vector<Json> drop;    ///< names or indices of columns that are neither feature nor target
  std::map<std::string, double> labels;  ///< texts that mean numbers, e.g. {"s": 0, "b": 1}
  bool allow_nan = false;                ///< keep "nan", infinities and empty fields (as NaN)
  std::int64_t rows = 0;                 ///< read only the first rows; 0: all
};
/// The options in `data.arguments`. Throws input_error for an unknown field or value.
CsvOptions csv_options(const Json& arguments);

/// The `delimiter` and `decimal` with which more fields of the first rows are numbers than with
/// those of `options`: what a file that can't be read may need. Empty: none.
Json guess_csv_form(std::string_view text, const CsvOptions& options = {});

/// Parses RFC 4180 text: quoted fields with doubled quotes, CRLF or LF, an optional byte order
/// mark, empty lines skipped. Throws input_error with `file`, line and column number for what it
/// can't read, which ends with what may help. One target column makes y a vector.
Part parse_csv(std::string_view text, const CsvOptions& options, const std::string& file);

/// Source `csv`: {file, ...}. Its header is its first lines: how many rows there are isn't known.
RawData read_csv_source(const Json& arguments, const SearchPath& search_path, Reading reading);

}  // namespace neutra::training
