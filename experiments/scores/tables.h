#pragma once

#include <string>

#include "evaluators/result_table.h"
#include "experiments/scores/scoring.h"

/// The tables of a sheet. Numbers name those of Humbatova et al. (2025).
namespace neutra::experiments {

/// Tables 4 to 7: a tool's answers beside the faults of the known fix. Underlined: no tool matches
/// more.
evaluators::ResultTable answer_table(const ScoreSheet& sheet, const std::string& tool);
/// Tables 8 and 10: recall, precision and F3 of each tool, before or after neutrality analysis.
/// After it bold is a value that grew, underlined one that fell, grey a fault without a repair but
/// the known fix.
evaluators::ResultTable scores_by_tool(const ScoreSheet& sheet, bool after);
/// Table 11: averages before and after.
evaluators::ResultTable averages_by_tool(const ScoreSheet& sheet);
/// Table 12, seconds of one localisation. "all tools": mean over the faults that every tool could
/// be applied to.
evaluators::ResultTable times_by_tool(const ScoreSheet& sheet);
/// Share of the runs that gave the answer that counts, 0 to 1.
evaluators::ResultTable stability_by_tool(const ScoreSheet& sheet);

/// Wilcoxon's signed-rank test between the tools, adjusted by Holm, and Nemenyi's test.
evaluators::ResultTable comparison_table(const ScoreSheet& sheet);
/// Friedman's test, before and after; no rows where the sheet has no order.
evaluators::ResultTable friedman_table(const ScoreSheet& sheet);
/// The mean rank of each tool by recall; no rows where the sheet has no order.
evaluators::ResultTable mean_rank_table(const ScoreSheet& sheet);

/// Tools that rank: first right place and average precision by fault.
evaluators::ResultTable rank_table(const ScoreSheet& sheet);
/// Tools that rank: Top@K, MRR and MAP over groups of faults.
evaluators::ResultTable rank_average_table(const ScoreSheet& sheet);
/// PerformanceDiff in percent: of the known fix alone against all ground truths, and of real faults
/// against artificial ones.
evaluators::ResultTable difference_table(const ScoreSheet& sheet);

}  // namespace neutra::experiments
