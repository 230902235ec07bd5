#include "evaluators/result_table.h"

#include <algorithm>
#include <cstdio>

#include "base/numbers.h"
#include "base/printable.h"

namespace neutra::evaluators {

const std::vector<Reporter>& reporters() {
  static const std::vector<Reporter> list = {
      {"text", "txt", [](const Report& report) { return write_text(report); }},
      {"csv", "csv", write_csv},
      {"json", "json", write_json},
      {"latex", "tex", write_latex}};
  return list;
}

const Reporter* find_reporter(std::string_view name) {
  const auto found = std::find_if(reporters().begin(), reporters().end(),
                                  [&](const Reporter& reporter) { return reporter.name == name; });
  return found == reporters().end() ? nullptr : &*found;
}

bool is_text(const ResultTable& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const ResultTable::Row& row) {
    return std::holds_alternative<std::string>(row.cells[column]);
  });
}

std::string shown_cell(const ResultTable::Column& column, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr) return "-";
  if (column.decimals < 0) return shortest(*number);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", column.decimals, *number);
  return text;
}

}  // namespace neutra::evaluators
