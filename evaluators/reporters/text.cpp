#include <algorithm>

#include "evaluators/result_table.h"

namespace neutra {
namespace {

/// Columns of characters, as long as nothing beyond ASCII and two-byte letters is used.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

bool is_text(const ResultTable& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return std::holds_alternative<std::string>(row.cells[column]);
  });
}

std::string padded(const std::string& text, std::size_t to, bool left) {
  std::string result = text;
  result.insert(left ? result.size() : 0, to - std::min(to, width(text)), ' ');
  return result;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string table_text(const ResultTable& table) {
  constexpr std::size_t kGap = 2;
  const std::size_t count = table.columns.size();
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t widest = width(table.columns[i].heading);
    for (const auto& row : table.rows) {
      widest = std::max(widest, width(shown_cell(table.columns[i], row.cells[i])));
    }
    widths.push_back(widest);
  }
  std::string groups;
  for (std::size_t i = 0; i < count;) {
    const std::string& group = table.columns[i].group;
    std::size_t span = widths[i], end = i + 1;
    while (end < count && !group.empty() && table.columns[end].group == group) {
      span += kGap + widths[end++];
    }
    // A long name widens the last of its columns.
    if (width(group) > span) {
      widths[end - 1] += width(group) - span;
      span = width(group);
    }
    if (i > 0) groups.append(kGap, ' ');
    groups += padded(group, span, true);
    i = end;
  }
  std::size_t total = 0;
  for (const std::size_t one : widths) total += one + kGap;
  const std::string rule(total - (total > 0 ? kGap : 0), '-');

  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text.append(kGap, ' ');
      text += padded(cell(i), widths[i], is_text(table, i));
    }
    return trimmed(text) + '\n';
  };
  std::string text;
  if (!table.title.empty()) text = table.title + "\n\n";
  if (!trimmed(groups).empty()) text += trimmed(groups) + '\n';
  text += line([&](std::size_t i) { return table.columns[i].heading; });
  text += rule + '\n';
  for (const auto& row : table.rows) {
    if (row.rule_above) text += rule + '\n';
    text += line([&](std::size_t i) { return shown_cell(table.columns[i], row.cells[i]); });
  }
  return text;
}

}  // namespace

std::string write_text(const Report& report) {
  std::string text;
  for (const ResultTable& table : report.tables) {
    if (!text.empty()) text += '\n';
    text += table_text(table);
  }
  return text;
}

}  // namespace neutra
