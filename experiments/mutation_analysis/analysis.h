#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/parallel.h"
#include "evaluators/kill_test.h"
#include "experiments/mutation_analysis/results.h"
#include "experiments/mutation_analysis/trainer.h"

/// Which mutants do test sets kill? DeepCrime's analysis (docs/methods/killing.md).
namespace neutra::experiments {

/// How mutants are judged.
struct MutationOptions {
  int runs = 20;  ///< trainings of each program
  evaluators::KillVariant variant = evaluators::KillVariant::kCorrected;
  std::vector<TestSet> sets{TestSet::kTrain, TestSet::kTest};  ///< that may kill
  /// Leave out runs that can change no verdict. Not in the published variant, nor where the metric
  /// has no upper bound or may not be finite.
  bool early = true;
  int workers = 1;                          ///< trainings at the same time
  const std::atomic<bool>* stop = nullptr;  ///< set: ends soon; null: nothing stops it
};

/// Trains what verdicts need, in parallel, until every search has ended. The result depends on
/// neither workers nor interruptions. Throws Error(kInterrupted) when `stop` is set: what was
/// trained is in `runs`. Throws input_error when the original can't be trained or judged.
MutationAnalysis analyse_mutants(const program::Program& original,
                                 const std::vector<OperatorSite>& sites,
                                 const MutationOptions& options, MutantTrainer& trainer,
                                 MutantRuns& runs,
                                 const std::function<void(const Tally& known)>& progress = {});

}  // namespace neutra::experiments
