#include "experiments/recorded_names.h"

#include "base/csv_table.h"
#include "base/files.h"
#include "experiments/catalog.h"

namespace neutra::experiments {

std::optional<std::string> fault_of_recorded_name(const std::string& name) {
  const auto file = resource_directory() / "tables" / "recorded_names.csv";
  const CsvTable table = parse_csv_table(read_file(file, "the study's names"), file.string());
  std::string plain;
  for (const char c : name) {
    if (c != '_' || plain.empty() || plain.back() != '_') plain += c;
  }
  for (const CsvTable::Row& row : table.rows) {
    if (row.cells[table.column("name")] == plain) return row.cells[table.column("fault")];
  }
  return std::nullopt;
}

}  // namespace neutra::experiments
