#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "search/decision.h"
#include "search/evaluation_table.h"
#include "search/minimal.h"
#include "search/space.h"
#include "search/work.h"

namespace neutra::search {

/// Finds out which repairs of a finished search are 1-minimal: evaluates the sub-patches that
/// decide it, down to the smallest ones (docs/methods/search.md, "Small repairs").
///
/// It goes in rounds. A round takes the smallest repairs that are undecided, those that stand by
/// themselves first, and of each one sub-patch: one that holds a known repair, if there is one,
/// else the first. What is found in a round counts from the next one on, so that nothing depends on
/// who trains and in which order.
class Minimiser : public Work {
 public:
  struct Switches {
    bool curtail = true;    ///< as in RunOptions
    bool isolated = false;  ///< suspects train in a process of their own, not alone in this one
  };
  /// `network`: of the search. `budget`: sub-patches to evaluate at most.
  Minimiser(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
            Switches switches, EarlierResults earlier, training::Trainer& trainer, Network network,
            std::optional<std::int64_t> budget);

  std::optional<Task> next() override { return next(true); }
  std::optional<Task> next_ahead(bool) override { return next(false); }
  std::int64_t ahead() override;
  void deliver(const Task& task, training::ReplicaResult result) override;
  void drop(const Task& task) override { evaluations_.drop(task); }
  bool finished() const override { return end_.has_value(); }
  Progress progress() const override;

  /// The search's, with the sub-patches so far.
  const Network& network() const { return network_; }
  /// What was done so far, without the seconds, which the store knows.
  Minimising state() const;

 private:
  struct Candidate : Decision {
    Node node;
    std::size_t evaluation = 0;
  };

  std::optional<Task> next(bool share);
  void advance();
  bool decided(Candidate& candidate);
  void commit(Candidate& candidate);
  void begin_round();
  void adopt();
  void choose(const RepairSize& size, std::set<Hash>& chosen);
  bool can_repair(const MetricMean& score) const;
  Node new_node(program::Parameters parameters) const;
  void add(Node node);

  const SearchTask& task_;
  const SearchSpace& space_;
  const SearchConfig config_;
  const Switches switches_;
  Network network_;
  const std::optional<std::int64_t> budget_;
  EvaluationTable evaluations_;
  KnownPrograms known_;  ///< of network_
  std::deque<Candidate> candidates_;
  std::size_t next_commit_ = 0;
  std::int64_t undecided_ = 0;  ///< repairs, when the round began
  std::int64_t used_trainings_ = 0;
  SearchCounters counters_;
  std::optional<SearchEnd> end_;
};

}  // namespace neutra::search
