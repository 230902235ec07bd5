#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "program/program.h"
#include "training/keras_release.h"

namespace neutra::training {

/// How a training ended. All are stored alike; only one with a metric can be neutral.
enum class RunStatus {
  kOk,
  kDiverged,     ///< weights or loss became NaN or infinite; the metric is still Keras's (argmax of
                 ///< NaN is 0)
  kInvalid,      ///< Keras would refuse the program or the data
  kTimeout,      ///< ran past its time limit
  kOutOfMemory,  ///< would need more memory than allowed
  kFailed        ///< the process died three times while training it, or the back end failed
};
std::string_view to_string(
    RunStatus status);  ///< "ok", "diverged", "invalid", "timeout", "out_of_memory", "failed"
/// nullopt for other words.
std::optional<RunStatus> parse_run_status(std::string_view word);
/// Did the training end by itself? It has a metric then, though that of one that diverged may not
/// be finite. What was refused or cut off has none.
constexpr bool has_metric(RunStatus status) {
  return status == RunStatus::kOk || status == RunStatus::kDiverged;
}

/// Which hash keys the random streams.
enum class StreamKey {
  kPrefix,  ///< hash without epochs: a shorter run is a prefix of a longer one (search)
  /// Full hash: independent samples (kill tests). All mutants made from one trained program share
  /// their trainings, which are not those of the program itself.
  kIndependent
};

/// One replica of one program to train.
struct TrainingJob {
  const program::Program* program = nullptr;
  std::uint64_t seed = 0;  ///< study seed
  int replica = 0;
  StreamKey stream = StreamKey::kPrefix;
  KerasRelease keras = KerasRelease::kTf24;  ///< another one only for tools that ran on it
  double time_limit = 0;                     ///< seconds, checked each step; 0: none
  std::uint64_t memory_limit = 0;            ///< bytes, checked before the start; 0: none
  const std::atomic<bool>* stop = nullptr;   ///< checked each step: give the training up
};

/// All of a job but its program and its stop. Reading throws Json::exception.
Json to_json(const TrainingJob& job);
/// The program and the stop are for the caller to set.
TrainingJob training_job_from_json(const Json& json);

/// What one training gives.
struct ReplicaResult {
  RunStatus status = RunStatus::kOk;
  double metric = 0;          ///< NaN where there is none
  std::int64_t correct = -1;  ///< accuracies: correct / total exactly; -1 for other metrics
  std::int64_t total = -1;
  double seconds = 0;
  std::int64_t steps = 0;         ///< optimiser steps run
  std::int64_t samples = 0;       ///< training rows seen
  std::int64_t epochs_saved = 0;  ///< epochs not run because every weight was NaN
  std::string backend;            ///< "eager", "fused"
  std::string message;            ///< reason when status is not kOk
  /// Epochs taken from another training instead of run, and the rows seen in them. Not stored.
  std::int64_t epochs_reused = 0, samples_reused = 0;
};

/// Exact: metrics that are not finite as "nan", "inf", "-inf". Reading throws Json::exception.
Json to_json(const ReplicaResult& result);
/// Reads what to_json() wrote.
ReplicaResult replica_result_from_json(const Json& json);

/// Trains programs. Implementations are thread safe: one call per worker thread at a time. Results
/// depend only on the job.
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// Never throws for what a program does; throws Error for what a user must fix (missing data
  /// file, a machine without memory) and, with Exit::kInterrupted, when the job's stop is set.
  virtual ReplicaResult train(const TrainingJob& job) = 0;
  /// Why Keras would refuse the program, without training it; nullopt: it would train.
  virtual std::optional<std::string> refusal(const program::Program& program) = 0;
  /// Part of the key of an evaluation: back end, instruction set, library versions, content of the
  /// program's data. Throws Error like train().
  virtual std::string fingerprint(const program::Program& program) = 0;
};

}  // namespace neutra::training
