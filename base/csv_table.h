#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// A CSV file of texts with a header line.
struct CsvTable {
  struct Row {
    std::size_t line = 0;  ///< 1-based, of its first character
    std::vector<std::string> cells;
  };
  std::vector<std::string> header;
  std::vector<Row> rows;

  /// Index of a column, header.size() when there is none.
  std::size_t column(std::string_view name) const;
};

/// Parses RFC 4180 text: quoted fields with doubled quotes, LF or CRLF, an optional byte order
/// mark, blank lines skipped, blanks around unquoted fields dropped. Throws input_error with `file`
/// and line for bytes that are no UTF-8, an open quote, text behind a closing quote, a row of
/// another width, a header name that is empty or given twice, and a file without a header.
CsvTable parse_csv_table(std::string_view text, const std::string& file);

/// A field of a CSV line, quoted where it has to be.
std::string csv_field(const std::string& text);
/// A line of such fields, with its end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace neutra
