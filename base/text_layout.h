#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// Columns of a terminal that a text in UTF-8 takes: two for the wide characters of East Asia and
/// for emoji, none for marks that combine.
std::size_t text_columns(std::string_view text);

/// A text in lines of at most `columns` (1 or more) columns, broken at blanks; a longer word behind
/// its last , ; | / - _ = or ), and where it has none, anywhere. Nothing but blanks at the breaks
/// is left out; one line at least.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// The columns below which wrapped() would break short words, or pieces of long ones.
std::size_t least_columns(std::string_view text);

/// Widths of columns with two blanks between them, `room` in all: the widest give way first, none
/// below its least. nullopt: there is no room for the least.
std::optional<std::vector<std::size_t>> fitted_widths(std::vector<std::size_t> widths,
                                                      const std::vector<std::size_t>& least,
                                                      std::size_t room);

/// `text` and blanks to that many columns, before it for `right`.
std::string padded(std::string text, std::size_t columns, bool right = false);

/// Cells of several lines each as lines of a text, two blanks between columns of these widths;
/// those that `right` says go to the right. No blanks at the ends of lines.
std::string row_text(const std::vector<std::vector<std::string>>& cells,
                     const std::vector<std::size_t>& widths, const std::vector<bool>& right);

/// A table whose first row is its heading, two blanks between columns; cells that `right` says go
/// to the right. Wider than `columns`, cells are wrapped; where that is not enough, or gets too
/// tall, each row is a paragraph with a line "heading  cell" for each cell.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       std::optional<std::size_t> columns, bool (*right)(const std::string& cell));

}  // namespace neutra
