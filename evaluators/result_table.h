#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace neutra::evaluators {

/// Nothing, a text or a number.
using Cell = std::variant<std::monostate, std::string, double>;

/// How a cell is set off in print (LaTeX).
enum class Emphasis { kBold, kUnderline, kGrey };

/// A table of results, independent of the form in which it is written.
struct ResultTable {
  /// What a column holds and how it is shown.
  struct Column {
    std::string key;         ///< snake_case, for machines
    std::string heading;     ///< for people
    std::string group = {};  ///< heading over neighbouring columns of the same group; "": none
    int decimals = -1;       ///< shown to people; -1: shortest decimal that reads back
  };
  /// One line of the table.
  struct Row {
    std::vector<Cell> cells;                        ///< one for each column
    bool rule_above = false;                        ///< a line between this row and the one before
    std::map<std::size_t, Emphasis> emphasis = {};  ///< by column
  };
  std::string key;    ///< snake_case
  std::string title;  ///< a sentence
  std::vector<Column> columns;
  std::vector<Row> rows;
};

/// What a command has to say: facts about it and tables.
struct Report {
  /// Facts for machines, by name; write_json() alone writes them.
  Json about = Json::object();
  std::vector<ResultTable> tables;
};

/// A form of output: one file each in evaluators/reporters.
struct Reporter {
  std::string_view name;                ///< word of --format
  std::string_view ending;              ///< of its files
  std::string (*write)(const Report&);  ///< ends with a line's end
};
/// text, csv, json, latex.
const std::vector<Reporter>& reporters();
/// nullptr for an unknown word.
const Reporter* find_reporter(std::string_view name);

/// Does a column hold a text in any row?
bool is_text(const ResultTable& table, std::size_t column);

/// A cell as people read it: texts printable(), numbers with the column's decimals, nothing as
/// "-".
std::string shown_cell(const ResultTable::Column& column, const Cell& cell);

/// Aligned columns: texts to the left, numbers to the right. Where a table is wider than `columns`,
/// texts are wrapped; where that is not enough, it is cut into parts, columns of a group together,
/// the first columns in each part.
std::string write_text(const Report& report, std::optional<std::size_t> columns);
std::string write_text(const Report& report);
/// One table in RFC 4180 form, headed by the columns' keys; further tables follow after a blank
/// line. Numbers are the shortest decimals that read back.
std::string write_csv(const Report& report);
/// `about`, then each table as an array of objects under its key. NaN and infinity are null.
std::string write_json(const Report& report);
/// Tables for LaTeX with the packages array, booktabs, graphicx and xcolor, in the layout of the
/// study. One that is wider than a line is scaled down to it; what a page has no room for is cut
/// into parts, columns of a group together, the first columns in each part.
std::string write_latex(const Report& report);

}  // namespace neutra::evaluators
