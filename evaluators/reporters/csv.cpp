#include "base/csv_table.h"
#include "base/numbers.h"
#include "evaluators/result_table.h"

namespace neutra::evaluators {

std::string write_csv(const Report& report) {
  std::string text;
  for (const ResultTable& table : report.tables) {
    if (!text.empty()) text += '\n';
    std::string line;
    for (const auto& column : table.columns) line += (line.empty() ? "" : ",") + column.key;
    text += line + '\n';
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        if (i > 0) text += ',';
        if (const auto* word = std::get_if<std::string>(&row.cells[i])) text += csv_field(*word);
        if (const auto* number = std::get_if<double>(&row.cells[i])) text += shortest(*number);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace neutra::evaluators
