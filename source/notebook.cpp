#include "source/notebook.h"

#include "base/error.h"
#include "base/json.h"

namespace neutra::source {
namespace {

void add_cells(const Json& cells, int& number, std::string& code) {
  if (!cells.is_array()) return;
  for (const Json& cell : cells) {
    ++number;
    const Json* kind = member(cell, "cell_type");
    if (kind == nullptr || *kind != "code") continue;
    const Json* source = member(cell, "source");
    if (source == nullptr) source = member(cell, "input");  // nbformat 3
    if (source == nullptr) continue;
    code += "# %% cell " + std::to_string(number) + "\n";
    for (const Json& line : source->is_array() ? *source : Json::array({*source}))
      if (line.is_string()) code += line.get<std::string>();
    if (!code.ends_with('\n')) code += "\n";
  }
}

}  // namespace

std::string code_of_notebook(std::string_view document, const std::string& file) {
  const Json json = parse_json(document, file);
  std::string code;
  int number = 0;
  const Json* cells = member(json, "cells");
  const Json* sheets = member(json, "worksheets");
  if (cells != nullptr) {
    add_cells(*cells, number, code);
  } else if (sheets != nullptr && sheets->is_array()) {
    for (const Json& sheet : *sheets)
      if (const Json* own = member(sheet, "cells")) add_cells(*own, number, code);
  } else {
    throw input_error(describe(file, "", "JSON without cells", "a notebook"));
  }
  return code;
}

}  // namespace neutra::source
