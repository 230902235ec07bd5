#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluators/mutation_score.h"
#include "experiments/mutation_analysis/runs.h"
#include "program/program.h"

namespace neutra::experiments {

/// A mutation operator at one place of the original.
struct OperatorSite {
  std::string op, abbreviation;                  ///< id and abbreviation of the operator
  std::string site;                              ///< "layer 3"; empty: the program as a whole
  std::optional<evaluators::SearchRange> range;  ///< of values to search; else:
  std::vector<std::string> values;  ///< configurations; one empty text: there is no choice
  /// The mutant; throws input_error with the reason where the value isn't applicable there.
  std::function<program::Program(const std::string& value)> make;
};

/// One mutant and what the test sets say of it.
struct AnalysedMutant {
  std::size_t site = 0;  ///< index of its OperatorSite
  std::string value;
  std::optional<program::Program> program;  ///< nullopt: not applicable
  std::string reason;  ///< why it isn't applicable, is invalid or has no verdict
  training::RunStatus status =
      training::RunStatus::kOk;  ///< the worst of its runs; kInvalid: nothing was trained
  std::string same_as;           ///< id of an earlier mutant that is the same program
  int runs = 0;                  ///< that the verdicts are from
  std::map<TestSet, evaluators::KillVerdict> verdicts;
  std::map<TestSet, double> means;          ///< NaN or infinite with a metric that is
  std::map<TestSet, std::size_t> diverged;  ///< of `runs`: those whose metric isn't finite
  double seconds = 0;
  /// Over `runs`, where these have per-input results: classifications. Mutants compare where it is
  /// over all runs.
  std::optional<double> triviality;
  std::optional<bool> redundant;  ///< killed mutants alone, where all runs were made
  std::string op;                 ///< id of the operator
  std::string id() const;         ///< "12:change_label=50"; unique
};

/// What became of an operator at a place.
struct SiteResult {
  std::map<TestSet, evaluators::BinarySearch> searches;  ///< of one with a range
  std::vector<std::size_t> mutants;  ///< indices, in the order in which they were tried
};

/// An operator over all its places.
struct OperatorResult {
  std::string op, abbreviation;    ///< id and abbreviation
  std::vector<std::size_t> sites;  ///< indices
  /// On kTest and kWeak, where kTrain is there, too.
  std::map<TestSet, evaluators::OperatorScore> scores;
};

/// What an analysis found out.
struct MutationAnalysis {
  std::map<TestSet, std::vector<double>> original;  ///< metric of each run
  std::vector<AnalysedMutant> mutants;
  std::vector<SiteResult> sites;  ///< as the sites given
  std::vector<OperatorResult> operators;
  std::map<TestSet, std::optional<double>> scores;  ///< of all operators together, 0 to 1
  std::size_t trainings = 0;  ///< of programs that were needed; left out ones don't count
  std::size_t saved = 0;      ///< trainings that could change no verdict, or of twins
};

/// Groups the sites of a result by operator, and scores each operator and all of them together on
/// the test sets besides kTrain, against which they are scored: without it there are no scores.
/// `sites` are those of the analysis, `sets` its test sets.
void add_scores(const std::vector<OperatorSite>& sites, const std::vector<TestSet>& sets,
                evaluators::KillVariant variant, MutationAnalysis& result);

}  // namespace neutra::experiments
