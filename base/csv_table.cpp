#include "base/csv_table.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/printable.h"

namespace neutra {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  CsvTable read() {
    CsvTable table;
    if (const std::size_t at = find_no_utf8(text_); at != std::string_view::npos) {
      const auto ends =
          std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      fail(1 + static_cast<std::size_t>(ends), "bytes that are not UTF-8", "text in UTF-8");
    }
    while (!text_.empty()) {
      CsvTable::Row row = next();
      if (row.cells.size() == 1 && row.cells.front().empty()) continue;
      if (table.header.empty()) {
        table.header = row.cells;
        check_header(table.header, row.line);
      } else if (row.cells.size() != table.header.size()) {
        fail(row.line, std::to_string(row.cells.size()) + " fields",
             std::to_string(table.header.size()) + ", as in the header");
      } else {
        table.rows.push_back(std::move(row));
      }
    }
    if (table.header.empty()) throw input_error(describe(file_, "", "nothing", "a header line"));
    return table;
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(file_, "line " + std::to_string(line), found, allowed));
  }

  void check_header(const std::vector<std::string>& header, std::size_t line) const {
    std::set<std::string_view> seen;
    for (const std::string& name : header) {
      if (name.empty()) fail(line, "a column without a name", "names");
      if (!seen.insert(name).second) fail(line, "column " + name + " a second time", "once");
    }
  }

  CsvTable::Row next() {
    CsvTable::Row row{line_, {}};
    for (;;) {
      row.cells.push_back(field());
      if (text_.empty()) break;
      const char separator = text_.front();
      text_.remove_prefix(1);
      if (separator == '\n') break;
    }
    ++line_;
    return row;
  }

  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
  }

  /// Stops before the comma, the line's end or the text's.
  std::string field() {
    skip_blanks();
    if (!text_.starts_with('"')) {
      const std::string_view plain = text_.substr(0, text_.find_first_of(",\n"));
      text_.remove_prefix(plain.size());
      return std::string(plain.substr(0, plain.find_last_not_of(" \t\r") + 1));
    }
    const std::size_t start = line_;
    text_.remove_prefix(1);
    std::string content;
    for (;;) {
      if (text_.empty()) fail(start, "a quote that isn't closed", "\"...\"");
      const char c = text_.front();
      text_.remove_prefix(1);
      if (c == '"') {
        if (!text_.starts_with('"')) break;
        text_.remove_prefix(1);
      }
      if (c == '\n') ++line_;
      content += c;
    }
    skip_blanks();
    if (text_.starts_with('\r')) text_.remove_prefix(1);
    if (!text_.empty() && text_.front() != ',' && text_.front() != '\n') {
      fail(line_, "text behind a closing quote", "a comma or the line's end");
    }
    return content;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t line_ = 1;
};

}  // namespace

std::size_t CsvTable::column(std::string_view name) const {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

CsvTable parse_csv_table(std::string_view text, const std::string& file) {
  return CsvReader(text, file).read();
}

std::string csv_field(const std::string& text) {
  const bool blank_ends = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!blank_ends && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i)
    line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return line + "\n";
}

}  // namespace neutra
