#include "report/tables.h"

#include "base/csv_table.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "report/embedded.h"

namespace neutra::report {
namespace {

const Json& layouts() {
  static const Json layouts =
      parse_json(std::string(embedded::report_tables), "report/tables.json");
  return layouts;
}

/// nullptr: the document has no such value.
const Json* at(const Json& json, const std::string& place) {
  const Json::json_pointer pointer(place);
  return json.contains(pointer) ? &json.at(pointer) : nullptr;
}

std::string text_of(const Json* value) {
  if (value == nullptr || value->is_null()) return "";
  if (value->is_string()) return value->get<std::string>();
  std::string text;
  if (value->is_array()) {
    for (const Json& one : *value) {
      text += (text.empty() ? "" : " ") + (one.is_null() ? "nan" : text_of(&one));
    }
  } else if (value->is_object()) {
    for (const auto& [name, one] : value->items()) {
      text += (text.empty() ? "" : ",") + name + "=" + text_of(&one);
    }
  } else {
    text = value->is_number_float() ? shortest(value->get<double>()) : value->dump();
  }
  return text;
}

void add_cells(const Json& columns, const Json* row, std::vector<std::string>& cells) {
  for (const Json& column : columns) {
    cells.push_back(row == nullptr ? "" : text_of(at(*row, column[1].get<std::string>())));
  }
}

bool has(const Json& document, const Json& layout) {
  const Json* rows = at(document, layout["rows"].get<std::string>());
  return rows != nullptr && rows->is_array();
}

}  // namespace

std::vector<std::string> report_tables() {
  std::vector<std::string> names;
  for (const auto& [name, layout] : layouts().items()) names.push_back(name);
  return names;
}

Json tables_json(const Json& document) {
  Json tables = Json::object();
  for (const auto& [name, layout] : layouts().items()) {
    if (has(document, layout)) tables[name] = layout;
  }
  return tables;
}

std::string table_csv(const Json& document, const std::string& name) {
  const Json& layout = layouts().at(name);
  if (!has(document, layout)) {
    std::vector<std::string> names;
    for (const auto& [other, its] : layouts().items()) {
      if (has(document, its)) names.push_back(other);
    }
    throw usage_error("--table: found " + name +
                      ", which this report lacks; allowed: " + join(names));
  }
  const Json& columns = layout["columns"];
  const Json* each = member(layout, "each");
  std::vector<std::string> cells;
  for (const Json& column : columns) cells.push_back(column[0].get<std::string>());
  std::size_t groups = 0;
  if (each != nullptr) {
    groups = at(document, (*each)["rows"].get<std::string>())->size();
    for (std::size_t i = 0; i < groups; ++i) {
      for (const Json& column : (*each)["columns"]) {
        cells.push_back(column[0].get<std::string>() + "_" + std::to_string(i + 1));
      }
    }
  }
  std::string text = csv_line(cells);
  for (const Json& row : *at(document, layout["rows"].get<std::string>())) {
    const Json* only = member(layout, "only");
    if (only != nullptr && row[only->get<std::string>()] != true) continue;
    cells.clear();
    add_cells(columns, &row, cells);
    for (std::size_t i = 0; i < groups; ++i) {
      const Json& part = (*at(row, (*each)["from"].get<std::string>()))[i];
      add_cells((*each)["columns"], part.is_null() ? nullptr : &part, cells);
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace neutra::report
