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
  enum class Origin { kNone, kStore, kReused, kTrained };
  struct Slot {
    Origin origin = Origin::kNone;
    bool running = false;
    bool used = false;  ///< counted for some node
    training::ReplicaResult result;
  };
  Hash hash;
  std::shared_ptr<const program::Program>
      program;  ///< may be dropped, and is made again where needed
  std::optional<std::string> refusal;
  std::vector<Slot> slots;  ///< by replica
  int running = 0;
  int deaths = 0;
  double seconds = 0;  ///< of the trainings that are known ...
  int known = 0;       ///< ... so many
};

/// The programs that are evaluated: what is known of each replica, and what is in training.
class EvaluationTable {
 public:
  struct Switches {
    bool reuse_identical = true;
    bool isolated = false;  ///< suspects train in a process of their own, not alone in this one
  };
  EvaluationTable(const SearchSpace& space, int replicas, Switches switches, Memory memory,
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
  Task hand_out(std::size_t index, int replica, const std::function<program::Program()>& make);
  void drop(const Task& task);
  /// Counts the training.
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
  const Memory memory_;
  training::Trainer& trainer_;
  std::deque<EvaluatedProgram> evaluations_;
  std::map<Hash, std::size_t> by_hash_;
  bool alone_ = false;
  int running_ = 0;
};

}  // namespace neutra::search
