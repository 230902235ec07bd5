#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "search/decision.h"
#include "search/evaluation_table.h"
#include "search/options.h"
#include "search/space.h"
#include "search/top_k.h"
#include "search/work.h"

namespace neutra::search {

/// The search as a deterministic state machine: it decides what is neutral and what is a repair. It
/// moves in the order of the serial algorithm: candidates (generated programs) are committed by id,
/// in whatever order results come in. Workers take tasks with next() and give results to deliver().
/// They may run ahead into the neighbours of the next parent: every generated program counts as
/// visited and the queue is first in, first out, so that a block of neighbours is fixed as soon as
/// its parent is at the head of the queue. What runs ahead shows in no network and in no budget.
///
/// Not thread safe: the executor holds a lock.
class SearchMachine : public Work {
 public:
  struct Switches {
    bool curtail = true, reuse_identical = true, speculate = true;  ///< as in RunOptions
    bool isolated = false;  ///< suspects train in a process of their own, not alone in this one
  };
  /// `elapsed`: total seconds of the search so far, for the time budget.
  SearchMachine(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                Switches switches, EarlierResults earlier, training::Trainer& trainer,
                std::function<double()> elapsed);

  /// The lowest candidate that nobody is training comes first, replica by replica, so that few
  /// trainings overshoot a curtailment; when every candidate has a worker and no further block can
  /// be generated, the replicas of one candidate are shared out, so that no core is idle at a
  /// parent's end: first those that will be needed, as it seems, the longest trainings first.
  std::optional<Task> next() override { return next(true, true); }
  std::optional<Task> next_ahead(bool generate) override { return next(generate, false); }
  std::int64_t ahead() override;
  /// Throws Error when the known fix turns out not to train and its level is needed, or where
  /// repairs improve on the buggy program and that one doesn't train.
  void deliver(const Task& task, training::ReplicaResult result) override;
  void drop(const Task& task) override;
  void check_time() override { advance(); }

  bool finished() const override { return end_.has_value(); }
  Progress progress() const override;
  /// Why it ended; kInterrupted: it has not.
  SearchEnd end() const { return end_.value_or(SearchEnd::kInterrupted); }
  /// The network of the serial search up to here.
  Network network() const;
  SearchCounters counters() const;    ///< without the seconds, which the store knows
  std::int64_t queue_length() const;  ///< programs that the serial search has still to expand
  std::int64_t alternatives() const { return alternatives_; }  ///< repairs so far
  std::optional<double> fraction() const;                      ///< of the budget

 private:
  struct Candidate : Decision {
    Node node;
    std::size_t evaluation = 0;
    double predicted_seconds = 0;  ///< of a training, before the first one
  };
  /// The unvisited neighbours of a parent: candidates [first, end).
  struct Block {
    std::int64_t parent = -1, first = 0, end = 0;
  };

  Candidate& at(std::int64_t id) { return candidates_[static_cast<std::size_t>(id)]; }
  const Candidate& at(std::int64_t id) const { return candidates_[static_cast<std::size_t>(id)]; }
  std::optional<Task> next(bool generate, bool share);
  void add_candidate(Node node);
  void generate();
  void advance();
  bool fixed_ready();
  bool decided(Candidate& candidate);
  int expected_replicas(const Candidate& candidate) const;
  double expected_seconds(const Candidate& candidate) const;
  Criteria criteria() const;
  bool out_of_time() const;
  void commit(Candidate& candidate);
  void finish_parent(const Block& block);
  std::int64_t budget() const;
  std::int64_t undecided_trainings() const;

  const SearchTask& task_;
  const SearchSpace& space_;
  const SearchConfig config_;
  const Switches switches_;
  const std::function<double()> elapsed_;

  EvaluationTable evaluations_;
  std::deque<Candidate> candidates_;  ///< by id
  std::unordered_set<std::string> visited_;
  std::deque<std::int64_t> queue_;
  std::deque<Block> blocks_;  ///< the front one is being committed, the others run ahead
  bool open_ = true;          ///< the front block's parent has been dequeued
  std::int64_t next_commit_ = 0;
  std::int64_t shown_ = 1;  ///< candidates of dequeued parents: those of the network
  std::int64_t dequeued_ = 0;
  std::vector<Edge> edges_;
  std::optional<std::size_t> fixed_;  ///< evaluation of the known fix
  std::vector<double> fixed_metrics_;
  std::optional<MetricMean> level_;  ///< the ground truth, once known and if there is one
  bool fixed_done_ = false;
  std::int64_t alternatives_ = 0;
  TopK top_k_;
  std::int64_t used_trainings_ = 0;
  std::int64_t counted_replicas_ = 0;  ///< of all committed candidates but the root
  /// By changed key and new value: how many times as long as their parents' the trainings took
  /// (sum, count).
  std::map<std::pair<std::string, std::string>, std::pair<double, int>> slowdowns_;
  SearchCounters counters_;
  std::optional<SearchEnd> end_;
};

}  // namespace neutra::search
