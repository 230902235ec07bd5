#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "experiments/benchmark/benchmark.h"
#include "experiments/benchmark/fault_catalogue.h"
#include "experiments/catalog.h"
#include "search/store_reader.h"
#include "training/local_trainer.h"

namespace neutra::experiments {

/// A subject of a plan.
struct PlannedSubject {
  Subject subject;
  std::vector<const mutators::MutationOperator*> operators;  ///< that make its faults
  std::vector<CatalogueFault> faults;  ///< with a catalogue: these instead of operators
  int runs = 0;                        ///< trainings of each program
  int per_operator = 0;                ///< most entries of an operator
};

/// What a benchmark is made of (docs/formats/benchmark_plan.md).
struct BenchmarkPlan {
  std::string name, title;  ///< of the benchmark
  std::uint64_t seed = 0;   ///< of draws, mutations and trainings
  double effect = 0;        ///< an entry's least |d|
  int per_kind = 0;         ///< most entries of an operator, all subjects together; 0: no limit
  std::uint64_t data_limit = 0;  ///< bytes of the largest data file that is included
  double core_seconds = 0;       ///< what making it takes one core, as once measured; 0: not known
  std::vector<PlannedSubject> subjects;
};

/// Reads a plan: `name_or_file` is a file, or the name of a bundled one ("small"). Throws
/// input_error.
BenchmarkPlan load_benchmark_plan(const std::string& name_or_file);
/// Names of the bundled plans, sorted.
std::vector<std::string> benchmark_plans();

/// How to build a benchmark.
struct BenchmarkBuild {
  /// Makes a trainer for the programs of one file.
  std::function<std::unique_ptr<training::LocalTrainer>(const std::filesystem::path& file)> trainer;
  /// Folders in which the data of a file's programs are looked up.
  std::function<std::vector<std::filesystem::path>(const std::filesystem::path& file)> data_path;
  /// Folder with a file of runs for each subject, which a later call goes on from; empty: none.
  std::filesystem::path runs;
  bool fresh = false;                                    ///< begin the files of runs anew
  std::string command;                                   ///< that owns the files of runs
  Json environment;                                      ///< Benchmark::environment
  int workers = 1;                                       ///< trainings at the same time
  const std::atomic<bool>* stop = nullptr;               ///< set: ends soon; null: nothing stops it
  std::function<void(const std::string& stage)> stage;   ///< told what begins
  std::function<void(const Tally& trainings)> progress;  ///< of those known to be needed
};

/// Name of a subject's file in the folder BenchmarkBuild::runs.
std::string runs_file(const std::string& subject);

/// Mutates, trains and tests all subjects of a plan and takes the faults that the test rows kill
/// with a large enough effect: of each operator the mildest, the strongest, and evenly between
/// them, or each fault of the plan's catalogue. Some trainings of the faults and of the correct
/// programs are monitored for their symptoms. `earlier` (may be null): its entries keep their ids;
/// those that don't come up again are deprecated, new ones get new ids. The result depends on
/// neither workers nor interruptions. Throws input_error for a subject that can't be trained, is
/// not what `earlier` has, or whose data are missing; Error(kInterrupted) when stopped.
Benchmark build_benchmark(const BenchmarkPlan& plan, const Benchmark* earlier,
                          const BenchmarkBuild& build);

/// Fills in how many repairs besides the correct program finished searches found together, for the
/// entries whose faulty program they started from. Searches for another level than the correct
/// program's metric don't count. Returns the number of entries that got one.
int add_alternatives(Benchmark& benchmark, const std::vector<search::StoredRun>& searches);

}  // namespace neutra::experiments
