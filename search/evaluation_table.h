#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/space.h"
#include "search/work.h"

namespace neutra::search {

/// A program that is evaluated; candidates whose strings give the same program share one.
struct EvaluatedProgram {
  /// Where a result comes from: nowhere yet, earlier processes, other stores, this process.
  enum class Origin { kNone, kStore, kReused, kTrained };
  /// One replica.
  struct Slot {
    Origin origin = Origin::kNone;
    bool running = false;
    bool used = false;  ///< counted for some node
    training::ReplicaResult result;
  };
  Hash hash;
  /// May be dropped, and is made again where needed.
  std::shared_ptr<const program::Program> program;
  std::optional<std::string> refusal;  ///< why it can't be trained
  std::vector<Slot> slots;             ///< by replica
  int running = 0;                     ///< trainings in flight
  int deaths = 0;                      ///< processes that died while training it
  double seconds = 0;                  ///< of the trainings that are known, together
  int known = 0;                       ///< how many these are
};

/// The programs that are evaluated: what is known of each replica, and what is in training.
class EvaluationTable {
 public:
  struct Switches {
    bool reuse_identical = true;  ///< candidates that give the same program share one evaluation
    bool isolated = false;  ///< suspects train in a process of their own, not alone in this one
  };
  /// Keeps references to `space` and `trainer`.
  EvaluationTable(const SearchSpace& space, int replicas, Switches switches, EarlierResults earlier,
                  training::Trainer& trainer);

  /// The evaluation of the program that `make` gives, with what is known of it; one that can't be
  /// made (Error) is a refused one, with `name` as identity.
  std::size_t add(const std::function<program::Program()>& make, const std::string& name);
  EvaluatedProgram& operator[](std::size_t index) { return evaluations_[index]; }
  const EvaluatedProgram& operator[](std::size_t index) const { return evaluations_[index]; }

  /// The first replica that nobody has begun.
  std::optional<int> trainable(std::size_t index) const;
  /// A suspect that trains alone, while others are in training.
  bool must_wait(std::size_t index) const;
  /// A suspect is in training: nothing else may run.
  bool alone() const { return alone_; }
  /// Marks a replica as in training. `make`: the program, where it was dropped.
  Task hand_out(std::size_t index, int replica, const std::function<program::Program()>& make);
  /// The replica is not in training any more, and has no result.
  void drop(const Task& task);
  /// Keeps the result of a replica that was handed out, and counts the training.
  void deliver(const Task& task, training::ReplicaResult result, SearchCounters& counters);
  /// Books the first `replicas` results of an evaluation for one node. Returns how many of them
  /// were trained by this process and are used for the first time.
  std::int64_t book(std::size_t index, int replicas, SearchCounters& counters);

 private:
  bool suspect(const EvaluatedProgram& evaluation) const {
    return evaluation.deaths >= kSuspectDeaths && !switches_.isolated;
  }

  const SearchSpace& space_;
  const int replicas_;
  const Switches switches_;
  const EarlierResults earlier_;
  training::Trainer& trainer_;
  std::deque<EvaluatedProgram> evaluations_;
  std::map<Hash, std::size_t> by_hash_;
  bool alone_ = false;
  int running_ = 0;
};

}  // namespace neutra::search
