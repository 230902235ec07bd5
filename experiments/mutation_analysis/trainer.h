#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "experiments/mutation_analysis/runs.h"
#include "program/program.h"

namespace neutra::experiments {

/// Trains originals and mutants. Thread safe; the result depends on program and run alone. Throws
/// Error as Trainer::train() does.
class MutantTrainer {
 public:
  virtual ~MutantTrainer() = default;
  /// Run number `run`, from 0, of a program.
  virtual MutantRun run(const program::Program& program, int run) = 0;
  /// Why Keras would refuse the program; nullopt: it would train.
  virtual std::optional<std::string> refusal(const program::Program& program) = 0;
};

/// A trainer with independent draws: the streams are keyed by the whole program, so that runs of an
/// original and of its mutants share nothing. The rows of the training set are the original's,
/// whatever a mutant does to its own, prepared as the mutant prepares test rows. `limits`:
/// time_limit, memory_limit and stop are taken. Everything outlives the result. Throws input_error
/// for a program whose metric is its loss: rows can't be asked for it.
std::unique_ptr<MutantTrainer> make_mutant_trainer(const program::Program& original,
                                                   training::LocalTrainer& trainer,
                                                   std::uint64_t seed,
                                                   const training::TrainingJob& limits);

/// Does the mutant prepare test rows with a step that training rows go without, other than the
/// original?
bool is_skewed(const program::Program& original, const program::Program& mutant);

}  // namespace neutra::experiments
