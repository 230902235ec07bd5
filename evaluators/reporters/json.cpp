#include <cmath>

#include "evaluators/result_table.h"

namespace neutra::evaluators {
namespace {

Json value(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr || !std::isfinite(*number)) return nullptr;
  constexpr double kExact = 1e15;
  if (std::floor(*number) == *number && std::fabs(*number) < kExact) {
    return static_cast<std::int64_t>(*number);
  }
  return *number;
}

}  // namespace

std::string write_json(const Report& report) {
  Json json = report.about;
  for (const ResultTable& table : report.tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json object = Json::object();
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        object[table.columns[i].key] = value(row.cells[i]);
      }
      rows.push_back(std::move(object));
    }
    json[table.key] = std::move(rows);
  }
  return to_text(json);
}

}  // namespace neutra::evaluators
