#include "experiments/scores/score_report.h"

#include <algorithm>

#include "experiments/scores/cells.h"
#include "experiments/scores/tables.h"

namespace neutra::experiments {
namespace {

using evaluators::Cell;
using evaluators::ResultTable;
using Row = ResultTable::Row;

/// A row for each fault and tool; for people a line between faults, and no origin, which groups
/// the means.
ResultTable long_table(const ScoreSheet& sheet, bool with_averages, bool for_people = false) {
  ResultTable table{"scores",
                    "Recall, precision and F3 with the known fix and over all ground truths",
                    {{"fault", "Id", "", -1},
                     {"origin", "Origin", "", -1},
                     {"tool", "Tool", "", -1},
                     {"answer", "Answer", "", -1}},
                    {}};
  add_score_columns(table, "before_", "known fix");
  add_score_columns(table, "after_", "all");
  table.columns.push_back({"ground_truths", "Ground truths", "", 0});
  table.columns.push_back({"attaining", "Attaining", "", 0});
  const bool ranks = has_ranks(sheet);
  if (ranks) {
    for (const char* stage : {"before", "after"}) {
      table.columns.push_back({std::string(stage) + "_first_rank", "First", stage, 0});
      table.columns.push_back(
          {std::string(stage) + "_average_precision", "AP", stage, kScoreDecimals});
    }
  }
  std::vector<std::optional<double> ScoreRow::*> measured;
  if (has(sheet, &ScoreRow::seconds)) {
    table.columns.push_back({"seconds", "Seconds", "", kTimeDecimals});
    measured.push_back(&ScoreRow::seconds);
  }
  if (has(sheet, &ScoreRow::stability)) {
    table.columns.push_back({"stability", "Stability", "", kScoreDecimals});
    measured.push_back(&ScoreRow::stability);
  }
  const bool by_line = sheet.options.match == evaluators::Match::kLine;
  const bool lines = std::any_of(sheet.rows.begin(), sheet.rows.end(),
                                 [](const ScoreRow& row) { return !row.lines.empty(); });
  const bool with_lines = by_line || (lines && !for_people);
  if (with_lines) table.columns.push_back({"lines", "Lines", "", -1});
  for (const ScoreRow& row : sheet.rows) {
    Row line{{row.fault, row.origin, row.tool, to_string(row.answer)}, false};
    add_score(line, row.before);
    add_score(line, row.after.score);
    line.cells.emplace_back(static_cast<double>(row.after.truths));
    line.cells.emplace_back(static_cast<double>(row.after.attaining));
    if (ranks) {
      for (const auto stage : {&RankRow::before, &RankRow::after}) {
        const evaluators::RankScore* score = row.ranks ? &((*row.ranks).*stage) : nullptr;
        line.cells.push_back(score != nullptr && score->first > 0
                                 ? Cell(static_cast<double>(score->first))
                                 : Cell());
        line.cells.push_back(score != nullptr ? Cell(score->average_precision) : Cell());
      }
    }
    for (const auto value : measured) line.cells.push_back(cell(row.*value));
    if (with_lines) line.cells.emplace_back(evaluators::to_string(row.lines));
    table.rows.push_back(std::move(line));
  }
  if (for_people) {
    constexpr std::ptrdiff_t kOrigin = 1;
    table.columns.erase(table.columns.begin() + kOrigin);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      table.rows[i].cells.erase(table.rows[i].cells.begin() + kOrigin);
      table.rows[i].cells[kOrigin] = heading(sheet, sheet.rows[i].tool);
      table.rows[i].rule_above = i > 0 && sheet.rows[i].fault != sheet.rows[i - 1].fault;
    }
  }
  if (!with_averages) return table;
  for (const ScoreAverage& average : sheet.averages) {
    Row line{{average.of, Cell(), average.tool, Cell()}, false};
    add_score(line, average.before);
    add_score(line, average.after);
    line.cells.resize(table.columns.size());
    table.rows.push_back(std::move(line));
  }
  return table;
}

ResultTable average_table(const ScoreSheet& sheet) {
  ResultTable table{"averages",
                    "Means over faults",
                    {{"of", "Faults", "", -1}, {"tool", "Tool", "", -1}, {"faults", "n", "", 0}},
                    {}};
  add_score_columns(table, "before_", "known fix");
  add_score_columns(table, "after_", "all");
  table.columns.push_back({"after_recall_low", "RC low", "95 %", kScoreDecimals});
  table.columns.push_back({"after_recall_high", "RC high", "95 %", kScoreDecimals});
  for (const ScoreAverage& average : sheet.averages) {
    Row line{{average.of, average.tool, static_cast<double>(average.faults)}, false};
    add_score(line, average.before);
    add_score(line, average.after);
    line.cells.emplace_back(average.recall.low);
    line.cells.emplace_back(average.recall.high);
    table.rows.push_back(std::move(line));
  }
  return table;
}

/// All pairs, or of more than a screen of them those that differ.
ResultTable telling_comparisons(const ScoreSheet& sheet) {
  constexpr std::size_t kScreen = 30;
  constexpr double kSignificant = 0.05;
  if (sheet.comparisons.size() <= kScreen) return comparison_table(sheet);
  ScoreSheet some;
  for (const ToolComparison& pair : sheet.comparisons) {
    if (std::min(pair.before_holm, pair.after_holm) < kSignificant) {
      some.comparisons.push_back(pair);
    }
  }
  ResultTable table = comparison_table(some);
  table.title += "; of " + std::to_string(sheet.comparisons.size()) + " pairs the " +
                 std::to_string(some.comparisons.size()) +
                 " with Holm's p below 0.05 (all: --format json)";
  return table;
}

void add_order(evaluators::Report& report, const ScoreSheet& sheet) {
  if (!sheet.order) return;
  report.tables.push_back(friedman_table(sheet));
  report.tables.push_back(mean_rank_table(sheet));
}

}  // namespace

Layout layout_of(std::string_view format) {
  return format == "csv" ? Layout::kOneTable : format == "json" ? Layout::kLong : Layout::kWide;
}

evaluators::Report score_report(const ScoreSheet& sheet, Layout layout) {
  evaluators::Report report;
  report.about = {{"format", "neutra-scores"},
                  {"version", 1},
                  {"variant", to_string(sheet.options.variant)},
                  {"match", to_string(sheet.options.match)},
                  {"unlocated", to_string(sheet.options.unlocated)},
                  {"beta", sheet.options.beta},
                  {"top", sheet.options.top},
                  {"minimal", sheet.minimal},
                  {"repairs", Json::array()}};
  for (const ScoredRepair& repair : sheet.repairs) {
    Json entry = {{"fault", repair.fault},
                  {"node", repair.node},
                  {"faults", to_string(repair.faults)},
                  {"counts", repair.counts}};
    if (!repair.lines.empty()) entry["lines"] = evaluators::to_string(repair.lines);
    entry.update(repair.size);
    report.about["repairs"].push_back(std::move(entry));
  }
  switch (layout) {
    case Layout::kWide:
      report.tables = {scores_by_tool(sheet, false), scores_by_tool(sheet, true)};
      if (!sheet.comparisons.empty()) report.tables.push_back(comparison_table(sheet));
      add_order(report, sheet);
      if (has(sheet, &ScoreRow::seconds)) report.tables.push_back(times_by_tool(sheet));
      if (has(sheet, &ScoreRow::stability)) report.tables.push_back(stability_by_tool(sheet));
      break;
    case Layout::kLong:
      report.tables = {long_table(sheet, false), average_table(sheet), comparison_table(sheet)};
      add_order(report, sheet);
      break;
    case Layout::kRows:
      report.tables = {long_table(sheet, false, true)};
      if (!sheet.averages.empty()) report.tables.push_back(average_table(sheet));
      if (ResultTable pairs = telling_comparisons(sheet); !pairs.rows.empty()) {
        report.tables.push_back(std::move(pairs));
      }
      add_order(report, sheet);
      break;
    case Layout::kOneTable:
      report.tables = {long_table(sheet, true)};
      return report;
  }
  if (has_ranks(sheet)) {
    if (layout == Layout::kWide) report.tables.push_back(rank_table(sheet));
    if (!sheet.averages.empty()) report.tables.push_back(rank_average_table(sheet));
  }
  if (!sheet.averages.empty()) report.tables.push_back(difference_table(sheet));
  return report;
}

}  // namespace neutra::experiments
