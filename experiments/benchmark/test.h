#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "experiments/benchmark/benchmark.h"
#include "training/local_trainer.h"

namespace neutra::experiments {

/// The triggering test of one version of an entry: new runs against those of the correct program
/// that the benchmark holds.
struct VersionTest {
  std::vector<double> metrics;      ///< of the new runs
  evaluators::KillVerdict verdict;  ///< killed: they are worse than the correct program's
  training::RunStatus status = training::RunStatus::kOk;  ///< the worst of the runs
  std::string message;                                    ///< why, where the status isn't kOk
  int attempts = 1;                                       ///< times that its runs were made
  /// A run that diverges or fails is a failure, whatever the others give.
  bool fails() const { return verdict.killed || status != training::RunStatus::kOk; }
};

/// The test of an entry's faulty version.
struct EntryTest {
  const BenchmarkEntry* entry = nullptr;  ///< of the benchmark that was tested
  VersionTest buggy;
};

/// The tests of some entries.
struct BenchmarkTest {
  std::vector<EntryTest> entries;            ///< in the order in which they were given
  std::map<std::string, VersionTest> fixed;  ///< by subject: it is tested once for all its entries
  /// The test of the entry's correct version.
  const VersionTest& fixed_of(const EntryTest& test) const { return fixed.at(test.entry->subject); }
  /// Does the buggy version fail and the fixed one pass?
  bool passes(const EntryTest& test) const { return test.buggy.fails() && !fixed_of(test).fails(); }
};

/// How to test.
struct BenchmarkTestOptions {
  std::uint64_t seed = 0;  ///< draws are others than the benchmark's, and others for each seed
  /// How often the trainings of a version are done anew that came out otherwise than it should.
  int retries = 1;
  int workers = 1;                                       ///< trainings at the same time
  const std::atomic<bool>* stop = nullptr;               ///< set: ends soon; null: nothing stops it
  std::function<void(const Tally& trainings)> progress;  ///< told after each training
};

/// Trains both versions of the entries, as often as the benchmark has trained them, with draws that
/// are independent of its own. `trainer` finds the data. Throws input_error for data that are not
/// the benchmark's, Error(kInterrupted) when stopped.
BenchmarkTest test_entries(const Benchmark& benchmark,
                           const std::vector<const BenchmarkEntry*>& entries,
                           const BenchmarkTestOptions& options, training::LocalTrainer& trainer);

}  // namespace neutra::experiments
