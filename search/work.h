#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "program/program.h"
#include "search/options.h"
#include "training/trainer.h"

namespace neutra::search {

/// Which training: one replica of one program.
struct EvaluationKey {
  Hash hash;        ///< of the program
  int replica = 0;  ///< from 0
  auto operator<=>(const EvaluationKey&) const = default;
};
/// Trainings and what they gave.
using EvaluationMap = std::map<EvaluationKey, training::ReplicaResult>;

/// Where a search's trainings are written down as they go, for later processes.
class EvaluationLog {
 public:
  virtual ~EvaluationLog() = default;
  /// `isolated`: in a process of its own, whose death is not this one's.
  virtual void started(const EvaluationKey& key, bool isolated) = 0;
  /// The training gave this. From now on it is not lost with the process.
  virtual void finished(const EvaluationKey& key, const training::ReplicaResult& result) = 0;
  /// The training was given up, not killed.
  virtual void dropped(const EvaluationKey& key) = 0;
};

/// What is known before a process begins.
struct EarlierResults {
  EvaluationMap own;           ///< of this store
  EvaluationMap reused;        ///< of other stores (--reuse)
  std::map<Hash, int> deaths;  ///< by program: processes that died while training it
};

/// Deaths from which on a program is a suspect: it trains isolated, in a process of its own, or
/// where that is not at hand while nothing else does.
inline constexpr int kSuspectDeaths = 2;
/// Deaths from which on a program has failed, where nothing trains isolated.
inline constexpr int kFatalDeaths = 3;

/// One replica to train.
struct Task {
  std::size_t evaluation = 0;  ///< index in the EvaluationTable
  int replica = 0;             ///< from 0
  Hash hash;                   ///< of the program
  int deaths = 0;              ///< processes that died training this program
  std::shared_ptr<const program::Program> program;
};

/// The result of a program that has killed three processes: kFailed, no metric.
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
  /// Takes in what the training of a task gave, and goes on as far as that allows.
  virtual void deliver(const Task& task, training::ReplicaResult result) = 0;
  /// Takes a task back that will not be delivered.
  virtual void drop(const Task& task) = 0;
  /// Ends work whose time has run out. next() and deliver() do so, too: this is for when nobody
  /// calls them.
  virtual void check_time() {}
  /// Nothing more is to be trained.
  virtual bool finished() const = 0;
  /// Without the seconds, which the store knows.
  virtual Progress progress() const = 0;
};

}  // namespace neutra::search
