#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// Cuts CSV text (RFC 4180: quoted fields with doubled quotes, LF or CRLF, an optional byte order
/// mark) into records.
class CsvRecords {
 public:
  enum class Blanks {
    kDropped,  ///< blanks, tabs and CR around fields are none of theirs
    kKept      ///< they are; a CR alone ends a line
  };
  /// The text must outlive the object.
  CsvRecords(std::string_view text, char delimiter, Blanks blanks);

  /// Puts the fields of the next record that is no empty line into `fields`; false at the end.
  bool next(std::vector<std::string>& fields);
  /// 1-based line of the last record's first character.
  std::size_t line() const { return record_line_; }

  /// What next() throws, at a line and a field, both from 1.
  struct Mistake {
    enum { kOpenQuote, kTextBehindQuote } kind;
    std::size_t line, field;
  };

 private:
  bool skip_line_end();
  void skip_blanks();
  bool ends_field(std::size_t at) const;
  std::string quoted_field(std::size_t field);

  std::string_view text_;  ///< what is left
  const char delimiter_;
  const bool drop_;
  std::size_t line_ = 1, record_line_ = 1;
};

/// A table of texts with a header line, as a CSV file holds it.
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

/// Parses a table whose fields are separated by commas; blanks around them are dropped and blank
/// lines skipped. Throws input_error with `file` and line for bytes that are no UTF-8, an open
/// quote, text behind a closing quote, a row of another width, a header name that is empty or given
/// twice, and a file without a header.
CsvTable parse_csv_table(std::string_view text, const std::string& file);

/// A field of a CSV line, quoted where it has to be.
std::string csv_field(const std::string& text);
/// A line of such fields, with its end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace neutra
