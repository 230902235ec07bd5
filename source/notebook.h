#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace neutra::source {

/// A cell of code of a notebook.
struct NotebookCell {
  int number = 1;           ///< among all cells of the notebook, from 1
  std::uint32_t first = 1;  ///< its first line in the code
};

/// The cells of code of a notebook, one after the other, each behind a line `# %% cell N`.
struct Notebook {
  std::string code;
  std::vector<NotebookCell> cells;
  /// Of each piece of the code: where it begins there, and the line of the file that has it.
  std::vector<std::pair<std::size_t, std::uint32_t>> pieces;

  /// The cell that a line of the code is in; nullptr: none.
  const NotebookCell* cell_of(std::uint32_t line) const;
  /// The line of the notebook's file that has this place of the code.
  std::uint32_t file_line(std::size_t offset) const;
};

/// Reads nbformat 3 and 4. Throws input_error with `file` for what is no notebook.
Notebook read_notebook(std::string_view document, const std::string& file);

}  // namespace neutra::source
