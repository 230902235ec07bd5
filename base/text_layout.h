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

/// The lines of a text, one at least, of at most `columns` (1 or more) columns each. They break at
/// blanks, which are left out; a word of more columns breaks behind its last , ; | / - _ = or )
/// that fits, else anywhere.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// The least columns with which wrapped() breaks no word of up to 20 columns, and longer ones only
/// behind the characters named there.
std::size_t least_columns(std::string_view text);

// Tables of columns of texts, whose widths are those of text_columns().

/// Blanks between two columns of a table.
inline constexpr std::size_t kColumnGap = 2;
/// Width of a row of columns of these widths, gaps included.
std::size_t row_columns(const std::vector<std::size_t>& widths);

/// The widths with which a row takes `room` at most: the widest columns give way first, none below
/// its least. nullopt: there is no room for the least.
std::optional<std::vector<std::size_t>> fitted_widths(std::vector<std::size_t> widths,
                                                      const std::vector<std::size_t>& least,
                                                      std::size_t room);

/// `text` and blanks, `columns` columns in all; for `right` the blanks come first.
std::string padded(std::string text, std::size_t columns, bool right = false);

/// A row of cells as lines of a text, each with its end and without blanks before it. `cells`: the
/// lines of each cell, which fit its column; `right`: the columns whose cells go to the right.
std::string row_text(const std::vector<std::vector<std::string>>& cells,
                     const std::vector<std::size_t>& widths, const std::vector<bool>& right);

/// A table whose first row is its heading; the cells that `right` names go to the right. Where it
/// is wider than `columns` (nullopt: no limit), cells are wrapped; where that is not enough, or
/// makes rows of more than four lines on average, each row becomes a paragraph with a line "heading
/// cell" for each cell.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       std::optional<std::size_t> columns, bool (*right)(const std::string& cell));

}  // namespace neutra
