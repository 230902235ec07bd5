#include "base/text_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/utf8.h"

namespace neutra {
namespace {

constexpr std::size_t kLongestWhole = 20;  ///< a word of more columns may be broken
constexpr std::size_t kIndent = 2;         ///< of the further lines of a row's first cell
constexpr double kTallest = 4;             ///< lines of a row, on average

/// The character that a text begins with; a byte that is no UTF-8 is one of its own.
Utf8Character next_character(std::string_view text) {
  const Utf8Character character = first_character(text);
  return character.bytes > 0 ? character : Utf8Character{1, 0};
}

using Range = std::pair<std::uint32_t, std::uint32_t>;

bool is_in(std::uint32_t code, const auto& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return code >= range.first && code <= range.second;
  });
}

/// By the ranges of Unicode 15 (EastAsianWidth.txt: W and F; general category Mn), blocks as
/// wholes.
std::size_t character_columns(std::uint32_t code) {
  constexpr std::array<Range, 7> kCombining{{{0x300, 0x36f},
                                             {0x483, 0x489},
                                             {0x591, 0x5bd},
                                             {0x200b, 0x200d},
                                             {0x20d0, 0x20f0},
                                             {0xfe00, 0xfe0f},
                                             {0xfe20, 0xfe2f}}};
  constexpr std::array<Range, 11> kWide{{{0x1100, 0x115f},
                                         {0x2e80, 0x303e},
                                         {0x3041, 0x33ff},
                                         {0x3400, 0x4dbf},
                                         {0x4e00, 0xa4cf},
                                         {0xac00, 0xd7a3},
                                         {0xf900, 0xfaff},
                                         {0xfe30, 0xfe6f},
                                         {0xff00, 0xff60},
                                         {0x1f300, 0x1faff},
                                         {0x20000, 0x3fffd}}};
  if (code < 0x300) return 1;
  return is_in(code, kCombining) ? 0 : is_in(code, kWide) ? 2 : 1;
}

bool may_end_piece(char c) {
  return std::string_view(",;|/-_=)").find(c) != std::string_view::npos;
}

/// Bytes of a word that fit in `columns`: all, or those to the last place where it may be broken;
/// at least one character.
std::size_t bytes_that_fit(std::string_view word, std::size_t columns) {
  std::size_t at = 0, used = 0, piece = 0;
  while (at < word.size()) {
    const Utf8Character character = next_character(word.substr(at));
    used += character_columns(character.code);
    if (used > columns && at > 0) return piece > 0 ? piece : at;
    at += character.bytes;
    if (may_end_piece(word[at - 1])) piece = at;
  }
  return at;
}

/// Calls `use` with each word between blanks.
void each_word(std::string_view text, const auto& use) {
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    use(text.substr(at, end - at));
    at = end;
  }
}

std::string without_end_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

using Rows = std::vector<std::vector<std::string>>;

/// The lines of a cell; those behind the first are indented in a row's first cell, or they would
/// look like rows.
std::vector<std::string> cell_lines(const std::string& cell, std::size_t column,
                                    std::size_t columns) {
  if (text_columns(cell) <= columns) return {cell};
  const std::size_t indent = column == 0 && columns > kLongestWhole / 2 ? kIndent : 0;
  std::vector<std::string> lines = wrapped(cell, columns - indent);
  for (std::size_t i = 1; i < lines.size(); ++i) lines[i].insert(0, indent, ' ');
  return lines;
}

std::string aligned(const Rows& rows, const std::vector<std::size_t>& widths,
                    bool (*right)(const std::string&)) {
  std::string text;
  for (const auto& row : rows) {
    std::vector<std::vector<std::string>> cells;
    std::vector<bool> to_the_right;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(cell_lines(row[i], i, widths[i]));
      to_the_right.push_back(right(row[i]));
    }
    text += row_text(cells, widths, to_the_right);
  }
  return text;
}

/// Each row as a paragraph.
std::string paragraphs(const Rows& rows, std::size_t columns) {
  const auto& heading = rows.front();
  std::size_t widest = 0;
  for (const std::string& name : heading) widest = std::max(widest, text_columns(name));
  widest = std::min(widest, columns / 2);
  std::string text;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (r > 1) text += "\n";
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const std::string name = i < heading.size() ? heading[i] : "";
      const std::vector<std::string> names = wrapped(name, widest),
                                     lines = wrapped(rows[r][i], columns - widest - kColumnGap);
      for (std::size_t at = 0; at < std::max(names.size(), lines.size()); ++at)
        text += without_end_blanks(padded(at < names.size() ? names[at] : "", widest + kColumnGap) +
                                   (at < lines.size() ? lines[at] : "")) +
                "\n";
    }
  }
  return text;
}

}  // namespace

std::size_t row_columns(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         (widths.empty() ? 0 : (widths.size() - 1) * kColumnGap);
}

std::size_t text_columns(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Utf8Character character = next_character(text);
    columns += character_columns(character.code);
    text.remove_prefix(character.bytes);
  }
  return columns;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  each_word(text, [&](std::string_view word) {
    const std::size_t width = text_columns(word);
    if (used > 0 && used + 1 + width <= columns) {
      (lines.back() += ' ') += word;
      used += 1 + width;
      return;
    }
    if (used > 0) lines.emplace_back();
    for (;;) {
      const std::size_t bytes = bytes_that_fit(word, columns);
      lines.back() = word.substr(0, bytes);
      word.remove_prefix(bytes);
      if (word.empty()) break;
      lines.emplace_back();
    }
    used = text_columns(lines.back());
  });
  return lines;
}

std::size_t least_columns(std::string_view text) {
  std::size_t least = 1;
  each_word(text, [&](std::string_view word) {
    if (text_columns(word) <= kLongestWhole) {
      least = std::max(least, text_columns(word));
      return;
    }
    while (!word.empty()) {
      const auto end = std::find_if(word.begin(), word.end(), may_end_piece);
      const auto bytes = static_cast<std::size_t>(end - word.begin()) + (end != word.end() ? 1 : 0);
      least = std::max(least, std::min(text_columns(word.substr(0, bytes)), kLongestWhole));
      word.remove_prefix(bytes);
    }
  });
  return least;
}

std::optional<std::vector<std::size_t>> fitted_widths(std::vector<std::size_t> widths,
                                                      const std::vector<std::size_t>& least,
                                                      std::size_t room) {
  while (row_columns(widths) > room) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == widths.size()) return std::nullopt;
    --widths[widest];
  }
  return widths;
}

std::string padded(std::string text, std::size_t columns, bool right) {
  const std::size_t width = text_columns(text);
  if (width < columns) text.insert(right ? 0 : text.size(), columns - width, ' ');
  return text;
}

std::string row_text(const std::vector<std::vector<std::string>>& cells,
                     const std::vector<std::size_t>& widths, const std::vector<bool>& right) {
  std::size_t tallest = 1;
  for (const auto& lines : cells) tallest = std::max(tallest, lines.size());
  std::string text;
  for (std::size_t at = 0; at < tallest; ++at) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += (i > 0 ? std::string(kColumnGap, ' ') : "") +
              padded(at < cells[i].size() ? cells[i][at] : "", widths[i], right[i]);
    }
    text += without_end_blanks(line) + "\n";
  }
  return text;
}

std::string table_text(const Rows& rows, std::optional<std::size_t> columns,
                       bool (*right)(const std::string&)) {
  std::vector<std::size_t> widths, least;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) {
        widths.push_back(0);
        least.push_back(1);
      }
      widths[i] = std::max(widths[i], text_columns(row[i]));
      const bool number = right(row[i]);  // which is never broken
      least[i] = std::max(
          least[i], number ? text_columns(row[i]) : least_columns(row[i]) + (i == 0 ? kIndent : 0));
    }
  for (std::size_t i = 0; i < widths.size(); ++i) least[i] = std::min(least[i], widths[i]);
  if (!columns || row_columns(widths) <= *columns) return aligned(rows, widths, right);
  if (const auto fitted = fitted_widths(widths, least, *columns)) {
    const std::string text = aligned(rows, *fitted, right);
    const auto lines = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
    if (lines <= kTallest * static_cast<double>(rows.size())) return text;
  }
  return rows.size() > 1 ? paragraphs(rows, *columns) : aligned(rows, least, right);
}

}  // namespace neutra
