#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "program/program.h"
#include "search/options.h"
#include "training/trainer.h"

namespace neutra::search {

struct EvaluationKey {
  Hash hash;
  int replica = 0;
  auto operator<=>(const EvaluationKey&) const = default;
};
using EvaluationMap = std::map<EvaluationKey, training::ReplicaResult>;

/// Where a search's trainings are written down as they go, for later processes.
class EvaluationLog {
 public:
  virtual ~EvaluationLog() = default;
  /// `apart`: in a process of its own, whose death is not ours.
  virtual void started(const EvaluationKey& key, bool apart) = 0;
  virtual void finished(const EvaluationKey& key, const training::ReplicaResult& result) = 0;
  /// The training was given up, not killed.
  virtual void dropped(const EvaluationKey& key) = 0;
};

/// What earlier processes left: results and, per program, how many processes died training it.
struct Memory {
  EvaluationMap own, reused;
  std::map<Hash, int> deaths;
};

inline constexpr int kSuspectDeaths = 2;  ///< from here on a program trains apart from the others
inline constexpr int kFatalDeaths = 3;    ///< from here on it has failed where nothing trains apart

/// One replica to train.
struct Task {
  std::size_t evaluation = 0;
  int replica = 0;
  Hash hash;
  int deaths = 0;  ///< processes that died training this program
  std::shared_ptr<const program::Program> program;
};

/// Of a program that three processes died in.
training::ReplicaResult failed_result();

/// What an executor works off. Workers take tasks with next() and give results to deliver(), in any
/// order; what comes of it doesn't depend on that order.
///
/// Not thread safe: the executor holds a lock.
class Work {
 public:
  virtual ~Work() = default;
  /// The next replica to train; nullopt: nothing to do now (finished() or others must report
  /// first).
  virtual std::optional<Task> next() = 0;
  /// For a worker that has other tasks to train first: a candidate that nobody is training, since
  /// further replicas of others might not be needed by then. `generate`: of new candidates, if need
  /// be.
  virtual std::optional<Task> next_ahead(bool generate) = 0;
  /// How many candidates next_ahead() finds without generating any.
  virtual std::int64_t ahead() = 0;
  virtual void deliver(const Task& task, training::ReplicaResult result) = 0;
  /// Takes a task back that will not be delivered.
  virtual void drop(const Task& task) = 0;
  /// Ends work whose time has run out. next() and deliver() do so, too: this is for when nobody
  /// calls them.
  virtual void check_time() {}
  virtual bool finished() const = 0;
  /// Without the seconds, which the store knows.
  virtual Progress progress() const = 0;
};

}  // namespace neutra::search
