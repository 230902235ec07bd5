#pragma once

#include <filesystem>
#include <vector>

#include "evaluators/result_table.h"
#include "experiments/scores/score_report.h"
#include "experiments/study/study.h"

namespace neutra::experiments {

/// What a study found, for people or machines: a table of the repairs, the scores, and the faults
/// and runs that went wrong; with Layout::kOneTable the scores alone.
evaluators::Report study_report(const Study& study, const StudyResult& result, Layout layout);

/// The study's tables, computed from this result: "table4-7_TOOL" for each tool, "table8" to
/// "table12", those that the paper gives in its text, "stability" and "comparisons", and tables of
/// ranks if any tool ranks.
std::vector<evaluators::ResultTable> study_tables(const StudyResult& result);

/// Writes scores.txt, .csv, .json and .tex, tables.txt and .tex, tables/KEY.csv, and the figures in
/// each of the forms: FAULT.svg (as the study's Figure 1), figure2.svg and, where the scores
/// can be ranked, critical_difference.svg. Throws failure().
void write_study(const Study& study, const StudyResult& result, const std::filesystem::path& folder,
                 const std::vector<std::string>& forms = {"svg"});

}  // namespace neutra::experiments
