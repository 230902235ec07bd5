#include "base/csv_table.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/utf8.h"

namespace neutra {
namespace {

constexpr std::string_view kBlanks = " \t";

void check_header(const std::vector<std::string>& header, const auto& fail) {
  std::set<std::string_view> seen;
  for (const std::string& name : header) {
    if (name.empty()) fail("a column without a name", "names");
    if (!seen.insert(name).second) fail("column " + name + " a second time", "once");
  }
}

}  // namespace

CsvRecords::CsvRecords(std::string_view text, char delimiter, Blanks blanks)
    : text_(text), delimiter_(delimiter), drop_(blanks == Blanks::kDropped) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
}

bool CsvRecords::next(std::vector<std::string>& fields) {
  while (!text_.empty()) {
    record_line_ = line_;
    if (skip_line_end()) continue;
    fields.clear();
    for (;;) {
      if (drop_) skip_blanks();
      if (text_.starts_with('"')) {
        fields.push_back(quoted_field(fields.size() + 1));
      } else {
        std::size_t length = 0;
        while (length < text_.size() && !ends_field(length)) ++length;
        const std::string_view field = text_.substr(0, length);
        fields.emplace_back(drop_ ? field.substr(0, field.find_last_not_of(" \t\r") + 1) : field);
        text_.remove_prefix(length);
      }
      if (!text_.starts_with(delimiter_)) break;
      text_.remove_prefix(1);
    }
    skip_line_end();
    return true;
  }
  return false;
}

bool CsvRecords::ends_field(std::size_t at) const {
  return text_[at] == delimiter_ || text_[at] == '\n' || (!drop_ && text_[at] == '\r');
}

bool CsvRecords::skip_line_end() {
  const std::size_t before = text_.size();
  if (!drop_ && text_.starts_with('\r')) text_.remove_prefix(1);
  if (text_.starts_with('\n')) text_.remove_prefix(1);
  if (text_.size() == before) return false;
  ++line_;
  return true;
}

void CsvRecords::skip_blanks() {
  text_.remove_prefix(std::min(text_.find_first_not_of(kBlanks), text_.size()));
}

std::string CsvRecords::quoted_field(std::size_t field) {
  const std::size_t start = line_;
  text_.remove_prefix(1);
  std::string content;
  for (;;) {
    if (text_.empty()) throw Mistake{Mistake::kOpenQuote, start, field};
    const char c = text_.front();
    text_.remove_prefix(1);
    if (c == '"') {
      if (!text_.starts_with('"')) break;
      text_.remove_prefix(1);
    }
    if (c == '\n') ++line_;
    content += c;
  }
  if (drop_) {
    skip_blanks();
    if (text_.starts_with('\r')) text_.remove_prefix(1);
  }
  if (!text_.empty() && !ends_field(0)) throw Mistake{Mistake::kTextBehindQuote, line_, field};
  return content;
}

std::size_t CsvTable::column(std::string_view name) const {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

CsvTable parse_csv_table(std::string_view text, const std::string& file) {
  const auto fail = [&](std::size_t line, const std::string& found, const std::string& allowed) {
    throw input_error(describe(file, "line " + std::to_string(line), found, allowed));
  };
  if (const std::size_t at = find_no_utf8(text); at != std::string_view::npos) {
    const auto ends =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    fail(1 + static_cast<std::size_t>(ends), "bytes that are not UTF-8", "text in UTF-8");
  }
  CsvTable table;
  CsvRecords records(text, ',', CsvRecords::Blanks::kDropped);
  try {
    for (std::vector<std::string> cells; records.next(cells);) {
      if (cells.size() == 1 && cells.front().empty()) continue;
      const std::size_t line = records.line();
      if (table.header.empty()) {
        check_header(cells, [&](const std::string& found, const std::string& allowed) {
          fail(line, found, allowed);
        });
        table.header = cells;
      } else if (cells.size() != table.header.size()) {
        fail(line, std::to_string(cells.size()) + " fields",
             std::to_string(table.header.size()) + ", as in the header");
      } else {
        table.rows.push_back({line, cells});
      }
    }
  } catch (const CsvRecords::Mistake& mistake) {
    if (mistake.kind == CsvRecords::Mistake::kOpenQuote) {
      fail(mistake.line, "a quote that isn't closed", "\"...\"");
    }
    fail(mistake.line, "text behind a closing quote", "a comma or the line's end");
  }
  if (table.header.empty()) throw input_error(describe(file, "", "nothing", "a header line"));
  return table;
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
