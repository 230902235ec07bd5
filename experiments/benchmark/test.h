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
  std::vector<double> metrics;
  evaluators::KillVerdict verdict;
  training::RunStatus status = training::RunStatus::kOk;  ///< the worst of the runs
  std::string message;
  int attempts = 1;
  /// A run that diverges or fails is a failure, whatever the others give.
  bool fails() const { return verdict.killed || status != training::RunStatus::kOk; }
};

struct EntryTest {
  const BenchmarkEntry* entry = nullptr;
  VersionTest buggy;
};

struct BenchmarkTest {
  std::vector<EntryTest> entries;
  std::map<std::string, VersionTest> fixed;  ///< by subject: it is tested once for all its entries
  const VersionTest& fixed_of(const EntryTest& test) const { return fixed.at(test.entry->subject); }
  /// Does the buggy version fail and the fixed one pass?
  bool passes(const EntryTest& test) const { return test.buggy.fails() && !fixed_of(test).fails(); }
};

struct BenchmarkTestOptions {
  std::uint64_t seed = 0;  ///< draws are others than the benchmark's, and others for each seed
  /// Trainings of a version that came out otherwise than it should are done anew this often.
  int retries = 1;
  int workers = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Tally& trainings)> progress;
};

/// Trains both versions of the entries, as often as the benchmark has trained them, with draws that
/// are independent of its own. `trainer` finds the data. Throws input_error for data that are not
/// the benchmark's, Error(kInterrupted) when stopped.
BenchmarkTest test_entries(const Benchmark& benchmark,
                           const std::vector<const BenchmarkEntry*>& entries,
                           const BenchmarkTestOptions& options, training::LocalTrainer& trainer);

}  // namespace neutra::experiments
