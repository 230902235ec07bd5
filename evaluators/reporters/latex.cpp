#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/printable.h"
#include "evaluators/result_table.h"

namespace neutra::evaluators {
namespace {

/// Sizes of a page of LaTeX's article in points, roughly: they only decide what goes where.
constexpr double kLetter = 5, kColumnGap = 12;
/// A wider table is cut. This is more than a line, which the table is scaled down to.
constexpr double kWidest = 470;
constexpr std::size_t kMostLines = 42;       ///< rows of one table
constexpr std::size_t kMostCharacters = 24;  ///< of a cell in one line; a column of longer is set
                                             ///< as paragraphs ...
constexpr double kOneParagraph = 0.45, kParagraph = 0.3;  ///< ... of this share of a line
constexpr double kLine = 345;

/// `breaks`: a line may end behind the signs that join words.
std::string escaped(const std::string& raw, bool breaks = false) {
  const std::string text = printable(raw);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '-':
        result += i > 0 && text[i - 1] == '-' ? "{}-" : "-";  // no dash
        break;
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
    const bool joins = std::string_view(",|;/_").find(c) != std::string_view::npos;
    if (breaks && joins && i + 1 < text.size() && text[i + 1] != ' ') result += "\\allowbreak{}";
  }
  return result;
}

std::size_t longest_cell(const ResultTable& table, std::size_t column) {
  std::size_t longest = 0;
  for (const auto& row : table.rows) {
    longest = std::max(longest, shown_cell(table.columns[column], row.cells[column]).size());
  }
  return longest;
}

/// Columns that are set as paragraphs, as shares of a line; 0 for the others.
std::vector<double> paragraphs(const ResultTable& table) {
  std::vector<double> shares(table.columns.size(), 0);
  std::vector<std::size_t> wide;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (is_text(table, i) && longest_cell(table, i) > kMostCharacters) wide.push_back(i);
  }
  for (const std::size_t i : wide) shares[i] = wide.size() == 1 ? kOneParagraph : kParagraph;
  return shares;
}

std::string alignment(const ResultTable& table, const std::vector<double>& shares) {
  std::string letters;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (shares[i] > 0) {
      letters += ">{\\raggedright\\arraybackslash}p{" + shortest(shares[i]) + "\\linewidth}";
    } else {
      letters += is_text(table, i) ? 'l' : 'r';
    }
  }
  return letters;
}

/// Neighbouring columns that stay together: those of a group, or one.
struct Block {
  std::size_t first, end;
  double width;
};
std::vector<Block> blocks_of(const ResultTable& table) {
  const std::vector<double> shares = paragraphs(table);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& group = table.columns[i].group;
    const std::size_t longest = std::max(longest_cell(table, i), table.columns[i].heading.size());
    const double width =
        (shares[i] > 0 ? shares[i] * kLine : kLetter * static_cast<double>(longest)) + kColumnGap;
    const bool joined = i > 0 && !group.empty() && group == table.columns[i - 1].group;
    if (!joined) blocks.push_back({i, i, 0});
    blocks.back().end = i + 1;
    blocks.back().width += width;
  }
  for (Block& block : blocks) {
    const double heading = kLetter * static_cast<double>(table.columns[block.first].group.size());
    block.width = std::max(block.width, heading + kColumnGap);
  }
  return blocks;
}

/// Some columns of a table.
ResultTable columns_of(const ResultTable& table, const std::vector<std::size_t>& columns) {
  ResultTable part{table.key, table.title, {}, {}};
  for (const std::size_t i : columns) part.columns.push_back(table.columns[i]);
  for (const auto& row : table.rows) {
    ResultTable::Row kept{{}, row.rule_above};
    for (std::size_t place = 0; place < columns.size(); ++place) {
      kept.cells.push_back(row.cells[columns[place]]);
      const auto found = row.emphasis.find(columns[place]);
      if (found != row.emphasis.end()) kept.emphasis[place] = found->second;
    }
    part.rows.push_back(std::move(kept));
  }
  return part;
}

/// Tables that fit a page's width, each with the first columns: those before the first group, or
/// one. Paragraphs stay with what they are about: a table that has some behind those isn't cut.
std::vector<ResultTable> cut_columns(const ResultTable& table) {
  const std::vector<Block> blocks = blocks_of(table);
  const auto grouped = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
    return !table.columns[block.first].group.empty();
  });
  const std::size_t leading = grouped != blocks.end() && grouped != blocks.begin()
                                  ? static_cast<std::size_t>(grouped - blocks.begin())
                                  : 1;
  double all = 0, lead = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    all += blocks[i].width;
    if (i < leading) lead += blocks[i].width;
  }
  if (all <= kWidest || lead > kWidest / 2) return {table};
  const std::vector<double> shares = paragraphs(table);
  if (std::any_of(shares.begin() + static_cast<std::ptrdiff_t>(blocks[leading].first), shares.end(),
                  [](double share) { return share > 0; })) {
    return {table};
  }
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < blocks[leading].first; ++i) first.push_back(i);
  std::vector<ResultTable> parts;
  std::vector<std::size_t> columns = first;
  double width = lead;
  for (std::size_t i = leading; i < blocks.size(); ++i) {
    if (width + blocks[i].width > kWidest && columns.size() > first.size()) {
      parts.push_back(columns_of(table, columns));
      columns = first;
      width = lead;
    }
    for (std::size_t c = blocks[i].first; c < blocks[i].end; ++c) columns.push_back(c);
    width += blocks[i].width;
  }
  parts.push_back(columns_of(table, columns));
  return parts;
}

/// Tables that fit a page's height.
std::vector<ResultTable> cut_rows(const ResultTable& table) {
  const std::vector<double> shares = paragraphs(table);
  std::vector<ResultTable> parts = {{table.key, table.title, table.columns, {}}};
  std::size_t lines = 0;
  for (const auto& row : table.rows) {
    std::size_t own = 1;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] <= 0) continue;
      const double text =
          kLetter * static_cast<double>(shown_cell(table.columns[i], row.cells[i]).size());
      own = std::max(own, static_cast<std::size_t>(std::ceil(text / (shares[i] * kLine))));
    }
    if (lines + own > kMostLines && lines > 0) {
      parts.push_back({table.key, table.title, table.columns, {}});
      lines = 0;
    }
    parts.back().rows.push_back(row);
    lines += own;
  }
  return parts;
}

std::vector<ResultTable> page_tables(const ResultTable& table) {
  std::vector<ResultTable> parts;
  for (const ResultTable& narrow : cut_columns(table)) {
    for (ResultTable& part : cut_rows(narrow)) parts.push_back(std::move(part));
  }
  for (std::size_t i = 0; parts.size() > 1 && i < parts.size(); ++i) {
    if (i > 0) parts[i].key += "-" + std::to_string(i + 1);
    parts[i].title +=
        " (part " + std::to_string(i + 1) + " of " + std::to_string(parts.size()) + ")";
  }
  return parts;
}

/// What \label takes.
std::string label_of(std::string key) {
  std::replace_if(
      key.begin(), key.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; },
      '_');
  return key;
}

std::string cell_latex(const ResultTable::Column& column, const Cell& cell, bool paragraph) {
  const auto* number = std::get_if<double>(&cell);
  if (number != nullptr && std::isinf(*number)) return *number < 0 ? "$-\\infty$" : "$\\infty$";
  const std::string text = escaped(shown_cell(column, cell), paragraph);
  return number != nullptr && text.front() == '-' ? "$-$" + text.substr(1) : text;
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
  const std::vector<double> shares = paragraphs(table);
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) text += " & ";
      text += cell(i);
    }
    return text + " \\\\\n";
  };
  std::string text = "\\begin{table}\n\\centering\n\\caption{" + escaped(table.title) +
                     "}\n\\label{tab:" + label_of(table.key) +
                     "}\n\\smallskip\n\\sbox0{%\n\\begin{tabular}{" + alignment(table, shares) +
                     "}\n\\toprule\n" + group_line(table);
  text += line([&](std::size_t i) { return escaped(table.columns[i].heading); }) + "\\midrule\n";
  for (const auto& row : table.rows) {
    if (row.rule_above && &row != &table.rows.front()) text += "\\midrule\n";
    text += line([&](std::size_t i) {
      return emphasised(cell_latex(table.columns[i], row.cells[i], shares[i] > 0), row, i);
    });
  }
  return text +
         "\\bottomrule\n\\end{tabular}}%\n"
         "\\ifdim\\wd0>\\linewidth\\resizebox{\\linewidth}{!}{\\usebox0}\\else\\usebox0\\fi\n"
         "\\end{table}\n";
}

}  // namespace

std::string write_latex(const Report& report) {
  std::string text = "% needs \\usepackage{array,booktabs,graphicx,xcolor}\n";
  for (const ResultTable& table : report.tables) {
    for (const ResultTable& part : page_tables(table)) {
      text += '\n';
      text += table_latex(part);
    }
  }
  return text;
}

}  // namespace neutra::evaluators
