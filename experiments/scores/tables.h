#pragma once

#include <string>
#include <string_view>

#include "evaluators/result_table.h"
#include "experiments/scores/scoring.h"

namespace neutra::experiments {

/// How a sheet is laid out: one row for each fault with columns for each tool, as in the study;
/// one row for each fault and tool, for machines or, without what is empty, for people; or that
/// with the averages among the rows, as one table.
enum class Layout { kWide, kLong, kRows, kOneTable };
/// The one that suits a form of output (Reporter::name).
Layout layout_of(std::string_view format);
/// Tools of one family ("deepmufl-muse", "deepmufl-sbi": the same word before the first hyphen)
/// that can't be told apart: the same answers, scores, ranks and stability on every fault.
struct AlikeTools {
  std::string shown;                ///< "deepmufl-muse (+1)": the first, with how many others
  std::vector<std::string> others;  ///< as alike as to be left out
};
/// The sheet with the first of such tools alone, under the name that is shown.
ScoreSheet fold_alike_tools(ScoreSheet sheet, std::vector<AlikeTools>& alike);
/// The family of a tool's name.
std::string_view tool_family(std::string_view tool);

/// Scores, averages and comparisons; ranks where a tool ranks.
evaluators::Report score_report(const ScoreSheet& sheet, Layout layout);

/// The study's Tables 4 to 7: a tool's answers beside the faults of the known fix. Underlined: no
/// tool matches more.
evaluators::ResultTable answer_table(const ScoreSheet& sheet, const std::string& tool);
/// Tables 8 and 10. After the analysis bold is a value that grew, underlined one that fell, grey a
/// fault without a repair but the known fix.
evaluators::ResultTable scores_by_tool(const ScoreSheet& sheet, bool after);
/// Table 11: averages before and after.
evaluators::ResultTable averages_by_tool(const ScoreSheet& sheet);
/// Table 12, seconds of one localisation. "all tools": mean over the faults that every tool could
/// be applied to.
evaluators::ResultTable times_by_tool(const ScoreSheet& sheet);
/// Share of the runs that gave the answer that counts.
evaluators::ResultTable stability_by_tool(const ScoreSheet& sheet);
/// Wilcoxon's signed-rank test between the tools, adjusted by Holm, and Nemenyi's test.
evaluators::ResultTable comparison_table(const ScoreSheet& sheet);
/// Friedman's test and the mean rank of each tool; no rows where the sheet has no order.
evaluators::ResultTable friedman_table(const ScoreSheet& sheet);
evaluators::ResultTable mean_rank_table(const ScoreSheet& sheet);
/// Tools that rank: first right place and average precision by fault; Top@K, MRR and MAP.
evaluators::ResultTable rank_table(const ScoreSheet& sheet);
evaluators::ResultTable rank_average_table(const ScoreSheet& sheet);
/// PerformanceDiff in percent: of the known fix alone against all ground truths, and of real faults
/// against artificial ones.
evaluators::ResultTable difference_table(const ScoreSheet& sheet);

}  // namespace neutra::experiments
