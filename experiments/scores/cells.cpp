#include "experiments/scores/cells.h"

#include <algorithm>

namespace neutra::experiments {

void add_score(evaluators::ResultTable::Row& row, const evaluators::Score& score) {
  for (const double value : {score.recall, score.precision, score.f}) row.cells.push_back(value);
}

void add_score_columns(evaluators::ResultTable& table, const std::string& key,
                       const std::string& group) {
  table.columns.push_back({key + "recall", "RC", group, kScoreDecimals});
  table.columns.push_back({key + "precision", "PR", group, kScoreDecimals});
  table.columns.push_back({key + "f3", "F3", group, kScoreDecimals});
}

std::string heading(const ScoreSheet& sheet, const std::string& tool) {
  return sheet.recorded.count(tool) != 0 ? tool + " (recorded)" : tool;
}

bool has_ranks(const ScoreSheet& sheet) {
  return std::any_of(sheet.rows.begin(), sheet.rows.end(),
                     [](const ScoreRow& row) { return row.ranks.has_value(); });
}

bool has(const ScoreSheet& sheet, std::optional<double> ScoreRow::*value) {
  return std::any_of(sheet.rows.begin(), sheet.rows.end(),
                     [&](const ScoreRow& row) { return (row.*value).has_value(); });
}

}  // namespace neutra::experiments
