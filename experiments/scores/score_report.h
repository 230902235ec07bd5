#pragma once

#include <string_view>

#include "evaluators/result_table.h"
#include "experiments/scores/scoring.h"

namespace neutra::experiments {

/// How a sheet is laid out in tables.
enum class Layout {
  kWide,     ///< one row for each fault, with columns for each tool, as in the study
  kLong,     ///< one row for each fault and tool, for machines
  kRows,     ///< the same for people: without what is empty
  kOneTable  ///< kLong with the averages among the rows, as one table
};
/// The layout that suits a form of output (Reporter::name).
Layout layout_of(std::string_view format);

/// Scores, averages and comparisons of a sheet; ranks where a tool ranks.
evaluators::Report score_report(const ScoreSheet& sheet, Layout layout);

}  // namespace neutra::experiments
