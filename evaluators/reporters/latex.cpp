#include <algorithm>

#include "evaluators/result_table.h"

namespace neutra {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '|':
        result += "\\textbar{}";
        break;
      case '<':
        result += "\\textless{}";
        break;
      case '>':
        result += "\\textgreater{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        result += '\\';
        [[fallthrough]];
      default:
        result += c;
    }
  }
  return result;
}

std::string alignment(const ResultTable& table) {
  std::string letters;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool text = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return std::holds_alternative<std::string>(row.cells[i]);
    });
    letters += text ? 'l' : 'r';
  }
  return letters;
}

/// Headings over neighbouring columns with short rules below them; "" without groups.
std::string group_line(const ResultTable& table) {
  std::string line, rules;
  bool any = false;
  for (std::size_t i = 0; i < table.columns.size();) {
    const std::string& group = table.columns[i].group;
    std::size_t end = i + 1;
    while (end < table.columns.size() && !group.empty() && table.columns[end].group == group) {
      ++end;
    }
    if (i > 0) line += " & ";
    if (!group.empty()) {
      any = true;
      line += "\\multicolumn{" + std::to_string(end - i) + "}{c}{" + escaped(group) + "}";
      rules += "\\cmidrule(lr){" + std::to_string(i + 1) + "-" + std::to_string(end) + "}";
    }
    i = end;
  }
  return any ? line + " \\\\\n" + rules + "\n" : "";
}

std::string emphasised(const std::string& text, const ResultTable::Row& row, std::size_t column) {
  const auto found = row.emphasis.find(column);
  if (found == row.emphasis.end()) return text;
  switch (found->second) {
    case Emphasis::kBold:
      return "\\textbf{" + text + "}";
    case Emphasis::kUnderline:
      return "\\underline{" + text + "}";
    case Emphasis::kGrey:
      return "\\textcolor{gray}{" + text + "}";
  }
  return text;
}

std::string table_latex(const ResultTable& table) {
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) text += " & ";
      text += cell(i);
    }
    return text + " \\\\\n";
  };
  std::string text = "\\begin{table}\n\\centering\n\\caption{" + escaped(table.title) +
                     "}\n\\label{tab:" + table.key + "}\n\\begin{tabular}{" + alignment(table) +
                     "}\n\\toprule\n" + group_line(table);
  text += line([&](std::size_t i) { return escaped(table.columns[i].heading); }) + "\\midrule\n";
  for (const auto& row : table.rows) {
    if (row.rule_above) text += "\\midrule\n";
    text += line([&](std::size_t i) {
      return emphasised(escaped(shown_cell(table.columns[i], row.cells[i])), row, i);
    });
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace

std::string write_latex(const Report& report) {
  std::string text = "% needs \\usepackage{booktabs,xcolor}\n";
  for (const ResultTable& table : report.tables) {
    text += '\n';
    text += table_latex(table);
  }
  return text;
}

}  // namespace neutra
