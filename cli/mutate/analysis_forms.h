#pragma once

#include <string>

#include "base/json.h"
#include "experiments/mutation_analysis/analysis.h"
#include "experiments/mutation_analysis/task.h"
#include "program/program.h"

namespace neutra::cli {

/// Which mutants of a program test sets kill, with what it was found by.
struct MutantAnalysis {
  std::string id;  ///< of the original
  program::Program original;
  experiments::MutationOptions options;  ///< runs, test sets, variant of the kill test
  experiments::MutationTask task;        ///< operators and where they apply
  experiments::MutationAnalysis result;  ///< verdicts and scores
};

/// docs/formats/mutation_analysis.md
Json json_of(const MutantAnalysis& analysis);
/// Tables of mutants and of scores.
std::string text_of(const MutantAnalysis& analysis);
/// A line for each mutant.
std::string csv_of(const MutantAnalysis& analysis);
/// In the form of mutation-testing-report-schema.
Json report_of(const MutantAnalysis& analysis);

/// One of these three: "text", "json" or "csv".
std::string form_of(const MutantAnalysis& analysis, const std::string& form);

}  // namespace neutra::cli
