#include <algorithm>

#include "base/text_layout.h"
#include "evaluators/result_table.h"

namespace neutra::evaluators {
namespace {

/// A table as it is shown: all cells as texts.
struct Shown {
  std::vector<std::string> headings, groups;
  std::vector<bool> texts;  ///< by column: not a number in any row
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> rules;  ///< by row: a line above it
  std::vector<std::size_t> widths, least;

  /// Of the columns from `begin` to before `end`, gaps included.
  std::size_t width(std::size_t begin, std::size_t end) const {
    const auto first = widths.begin();
    return row_columns(
        {first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)});
  }
};

/// One past the last column of the group that begins at `i`.
std::size_t end_of_group(const std::vector<std::string>& groups, std::size_t i) {
  std::size_t end = i + 1;
  while (end < groups.size() && !groups[i].empty() && groups[end] == groups[i]) ++end;
  return end;
}

/// The columns of a table that `which` names.
Shown shown(const ResultTable& table, const std::vector<std::size_t>& which) {
  Shown result;
  result.rows.resize(table.rows.size());
  for (const auto& row : table.rows) result.rules.push_back(row.rule_above);
  for (const std::size_t i : which) {
    const ResultTable::Column& column = table.columns[i];
    const bool text = is_text(table, i);
    std::size_t widest = text_columns(column.heading), least = least_columns(column.heading);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::string cell = shown_cell(column, table.rows[r].cells[i]);
      widest = std::max(widest, text_columns(cell));
      least = std::max(least, text ? least_columns(cell) : text_columns(cell));
      result.rows[r].push_back(cell);
    }
    result.headings.push_back(column.heading);
    result.groups.push_back(column.group);
    result.texts.push_back(text);
    result.widths.push_back(widest);
    result.least.push_back(std::min(least, widest));
  }
  // A long name of a group widens the last of its columns.
  for (std::size_t i = 0; i < which.size(); i = end_of_group(result.groups, i)) {
    const std::size_t end = end_of_group(result.groups, i);
    const std::size_t span = result.width(i, end);
    const std::size_t name = text_columns(result.groups[i]);
    if (name <= span) continue;
    result.widths[end - 1] += name - span;
    result.least[end - 1] = result.widths[end - 1];
  }
  return result;
}

std::string text_of(const Shown& table) {
  std::vector<std::vector<std::string>> groups;
  std::vector<std::size_t> spans;
  for (std::size_t i = 0; i < table.groups.size(); i = end_of_group(table.groups, i)) {
    groups.push_back({table.groups[i]});
    spans.push_back(table.width(i, end_of_group(table.groups, i)));
  }
  const std::string names = row_text(groups, spans, std::vector<bool>(spans.size(), false));
  const std::string rule(row_columns(table.widths), '-');
  const auto lines_of = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> parts;
    std::vector<bool> right;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool fits = text_columns(cells[i]) <= table.widths[i];
      parts.push_back(fits ? std::vector{cells[i]} : wrapped(cells[i], table.widths[i]));
      right.push_back(!table.texts[i]);
    }
    return row_text(parts, table.widths, right);
  };
  std::string text;
  if (names != "\n") text += names;
  text += lines_of(table.headings) + rule + '\n';
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (table.rules[r]) text += rule + '\n';
    text += lines_of(table.rows[r]);
  }
  return text;
}

std::string text_of(const ResultTable& table, std::optional<std::size_t> columns) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < table.columns.size(); ++i) all.push_back(i);
  Shown whole = shown(table, all);
  if (!columns || row_columns(whole.widths) <= *columns) return text_of(whole);
  if (auto widths = fitted_widths(whole.widths, whole.least, *columns)) {
    whole.widths = *std::move(widths);
    return text_of(whole);
  }
  // In parts, each with the columns that say what a row is about: the first two with texts.
  constexpr std::size_t kRepeated = 2, kNarrowest = 8;
  std::vector<std::size_t> first;
  while (first.size() < kRepeated && first.size() + 1 < all.size() && whole.texts[first.size()] &&
         whole.groups[first.size()].empty()) {
    first.push_back(first.size());
  }
  std::vector<std::size_t> part = first;
  std::string text;
  const auto put = [&] {
    Shown some = shown(table, part);
    auto widths = fitted_widths(some.widths, some.least, *columns);
    if (!widths) {  // words are broken, too
      for (std::size_t c = 0; c < some.least.size(); ++c) {
        if (some.texts[c]) some.least[c] = std::min(some.least[c], kNarrowest);
      }
      widths = fitted_widths(some.widths, some.least, *columns);
    }
    if (widths) some.widths = *std::move(widths);
    text += (text.empty() ? "" : "\n") + text_of(some);
    part = first;
  };
  for (std::size_t i = first.size(); i < all.size();) {
    const std::size_t end = end_of_group(whole.groups, i);
    std::vector<std::size_t> with = part;
    for (std::size_t c = i; c < end; ++c) with.push_back(c);
    const Shown wider = shown(table, with);
    if (part.size() > first.size() && !fitted_widths(wider.widths, wider.least, *columns)) {
      put();
      continue;
    }
    part = std::move(with);
    i = end;
  }
  put();
  return text;
}

}  // namespace

std::string write_text(const Report& report, std::optional<std::size_t> columns) {
  std::string text;
  for (const ResultTable& table : report.tables) {
    if (!text.empty()) text += '\n';
    if (!table.title.empty()) {
      const std::vector<std::string> lines =
          columns ? wrapped(table.title, *columns) : std::vector{table.title};
      for (const std::string& line : lines) text += line + '\n';
      text += '\n';
    }
    text += text_of(table, columns);
  }
  return text;
}

std::string write_text(const Report& report) { return write_text(report, std::nullopt); }

}  // namespace neutra::evaluators
