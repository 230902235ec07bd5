#include "source/notebook.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/json.h"

namespace neutra::source {
namespace {

/// Lines of the texts of cells in the JSON text: by the number of the cell from 1 and the member,
/// "source" or "input", in order.
using TextLines = std::map<std::pair<int, std::string>, std::vector<std::uint32_t>>;

/// Walks over a valid JSON text and notes in which lines the texts of cells begin: the library that
/// reads it doesn't tell.
class CellScanner {
 public:
  explicit CellScanner(std::string_view text) : text_(text) {}

  TextLines run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      if (c == '\n') ++line_;
      if (c == '{' || c == '[') {
        begin_element();
        levels_.push_back({c == '{', {}, c == '{'});
      } else if ((c == '}' || c == ']') && !levels_.empty()) {
        levels_.pop_back();
      } else if (c == ',' && !levels_.empty()) {
        levels_.back().key_next = levels_.back().object;
      }
      ++at_;
    }
    return std::move(lines_);
  }

 private:
  struct Level {
    bool object;
    std::string key;
    bool key_next;
  };

  /// Is the innermost level the list of cells: `cells` of the notebook or of a worksheet of it?
  bool in_cells(std::size_t levels) const {
    if (levels == 2) return levels_[0].key == "cells" && !levels_[1].object;
    return levels == 4 && levels_[0].key == "worksheets" && levels_[2].key == "cells" &&
           !levels_[3].object;
  }
  void begin_element() {
    if (in_cells(levels_.size())) ++cell_;
  }
  void string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::string_view content = text_.substr(begin, std::min(at_, text_.size()) - begin);
    ++at_;
    if (levels_.empty()) return;
    if (levels_.back().key_next) {
      levels_.back().key = content;
      levels_.back().key_next = false;
      return;
    }
    // The text is a member of the cell, or stands in a list that is one.
    const std::size_t depth = levels_.size();
    const std::size_t cell = levels_.back().object ? depth : depth - 1;
    if (cell < 1 || !levels_[cell - 1].object || !in_cells(cell - 1)) return;
    lines_[{cell_, levels_[cell - 1].key}].push_back(line_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  int cell_ = 0;
  std::vector<Level> levels_;
  TextLines lines_;
};

/// Puts the cells of a notebook together.
class Reader {
 public:
  Reader(Notebook& notebook, TextLines lines) : notebook_(notebook), lines_(std::move(lines)) {}

  void add_cells(const Json& cells) {
    if (!cells.is_array()) return;
    for (const Json& cell : cells) {
      ++number_;
      const Json* kind = member(cell, "cell_type");
      if (kind == nullptr || *kind != "code") continue;
      const char* name = member(cell, "source") != nullptr ? "source" : "input";  // nbformat 3
      const Json* source = member(cell, name);
      if (source != nullptr) add(*source, lines_[{number_, name}]);
    }
  }

 private:
  void add_text(std::string_view text, std::uint32_t line) {
    notebook_.pieces.emplace_back(notebook_.code.size(), line);
    notebook_.code += text;
    code_lines_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
  }
  void add(const Json& source, const std::vector<std::uint32_t>& lines) {
    const std::uint32_t begin = lines.empty() ? 1 : lines.front();
    add_text("# %% cell " + std::to_string(number_) + "\n", begin);
    notebook_.cells.push_back({number_, code_lines_});
    std::size_t i = 0;
    for (const Json& text : source.is_array() ? source : Json::array({source})) {
      if (!text.is_string()) continue;
      add_text(text.get<std::string>(), i < lines.size() ? lines[i] : begin);
      ++i;
    }
    if (!notebook_.code.ends_with('\n')) add_text("\n", lines.empty() ? 1 : lines.back());
  }

  Notebook& notebook_;
  TextLines lines_;
  int number_ = 0;
  std::uint32_t code_lines_ = 1;  ///< the line that is written next
};

}  // namespace

const NotebookCell* Notebook::cell_of(std::uint32_t line) const {
  const auto next = std::upper_bound(
      cells.begin(), cells.end(), line,
      [](std::uint32_t one, const NotebookCell& cell) { return one < cell.first; });
  return next == cells.begin() ? nullptr : &*(next - 1);
}

std::uint32_t Notebook::file_line(std::size_t offset) const {
  const auto next =
      std::upper_bound(pieces.begin(), pieces.end(), offset,
                       [](std::size_t one, const auto& piece) { return one < piece.first; });
  return next == pieces.begin() ? 1 : (next - 1)->second;
}

Notebook read_notebook(std::string_view document, const std::string& file) {
  const Json json = parse_json(document, file);
  Notebook notebook;
  Reader reader(notebook, CellScanner(document).run());
  const Json* cells = member(json, "cells");
  const Json* sheets = member(json, "worksheets");
  if (cells != nullptr) {
    reader.add_cells(*cells);
  } else if (sheets != nullptr && sheets->is_array()) {
    for (const Json& sheet : *sheets)
      if (const Json* own = member(sheet, "cells")) reader.add_cells(*own);
  } else {
    throw input_error(describe(file, "", "JSON without cells", "a notebook"));
  }
  return notebook;
}

}  // namespace neutra::source
