#pragma once

#include <optional>
#include <string>

#include "evaluators/result_table.h"
#include "experiments/scores/scoring.h"

/// What the tables of scores have in common.
namespace neutra::experiments {

inline constexpr int kScoreDecimals = 2;        ///< of recall, precision, F3, mean ranks
inline constexpr int kProbabilityDecimals = 4;  ///< of p
inline constexpr int kTimeDecimals = 3;         ///< of seconds

/// A value as a cell, an empty one where there is none.
inline evaluators::Cell cell(std::optional<double> value) {
  return value ? evaluators::Cell(*value) : evaluators::Cell();
}
/// A count as a cell.
inline evaluators::Cell whole(std::size_t value) { return static_cast<double>(value); }

/// Adds recall, precision and F3 to a row.
void add_score(evaluators::ResultTable::Row& row, const evaluators::Score& score);
/// Adds the columns of recall, precision and F3 under the heading `group`; `key` begins their keys.
void add_score_columns(evaluators::ResultTable& table, const std::string& key,
                       const std::string& group);
/// A tool as the head of a column: "umlaut (recorded)" where its answers were read.
std::string heading(const ScoreSheet& sheet, const std::string& tool);

/// Does any tool of the sheet rank?
bool has_ranks(const ScoreSheet& sheet);
/// Has any row of the sheet this value?
bool has(const ScoreSheet& sheet, std::optional<double> ScoreRow::*value);

}  // namespace neutra::experiments
