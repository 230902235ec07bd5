#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "fl_adapters/tool.h"
#include "fl_adapters/tools/deepfd/table.h"
#include "program/parameters.h"

namespace neutra::fl_adapters::deepfd {

/// A program with faults seeded into it.
struct Seeded {
  std::string name;  ///< the tool's: "lr_1e-12__epoch_2"; "origin" without faults
  Labels labels{};
  program::Program program;
};

/// Seeds faults into one correct program, from the tool's pools (faults.json): optimiser, learning
/// rate, activation of the last layer, loss, epochs.
class Seeder {
 public:
  /// `base`: a valid program, without faults.
  explicit Seeder(const program::Program& base);

  /// Values that make a fault of this label: those of the pool that change the program. Empty: the
  /// program has no place for such a fault.
  std::vector<std::string> values(std::size_t label) const;
  /// One value for each label that shall be faulty; "" for the others.
  Seeded seed(const std::array<std::string, kLabels>& values) const;

 private:
  std::string key(std::size_t label) const;
  program::ProgramSpace space_;
};

/// The program as the tool trains it: watched on its test rows unless it has validation rows of its
/// own, measured by accuracy, stopped early.
program::Program watched(const program::Program& program);

/// What one training of the watched program gives.
struct Observation {
  training::ReplicaResult result;
  std::array<std::vector<float>, std::size(kVariants)> features;  ///< of those asked for
  double val_accuracy = 0;
};
/// Trains the program of `job` as the tool does; features of the variants asked for.
Observation observe(training::LocalTrainer& trainer, training::TrainingJob job,
                    const std::vector<ToolVariant>& variants);

/// How to make a table.
struct SeedingOptions {
  std::uint64_t seed = 0;
  int singles = 4;                            ///< at most, for each label
  std::array<int, 4> several = {6, 6, 4, 2};  ///< mutants with 2, 3, 4 and 5 faults
  int workers = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Tally& trainings)> progress;  ///< called after each training
};

/// Throws input_error for a program that isn't valid, isn't a classification or can't be trained.
void require_seedable(const std::vector<FaultyProgram>& programs, training::LocalTrainer& trainer);

/// Trains programs and their mutants 20 times each and keeps the programs and the mutants that are
/// killed. Faults that were killed alone are combined to mutants with several. Throws what
/// require_seedable() throws.
Table make_table(const std::vector<FaultyProgram>& programs, training::LocalTrainer& trainer,
                 const SeedingOptions& options);

}  // namespace neutra::fl_adapters::deepfd
