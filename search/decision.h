#pragma once

#include <optional>
#include <vector>

#include "search/evaluation_table.h"
#include "search/metric_mean.h"
#include "search/network.h"
#include "search/options.h"

namespace neutra::search {

/// What makes a program neutral, and what a repair (docs/methods/search.md).
struct Criteria {
  Rule rule = Rule::kAlgorithm1;
  program::Goal goal = program::Goal::kMaximize;
  int replicas = 0;                    ///< of a program that is neutral or a repair
  std::optional<double> metric_bound;  ///< metric_bound() of the metric
  /// What a repair reaches, at least; nullopt: it need not, or the level is not known yet.
  std::optional<MetricMean> level;
  /// The mean of the buggy program, which a repair beats significantly; nullopt: it need not.
  std::optional<MetricMean> buggy;
};

/// Does the search go on from a program with this mean: is it, by the rule, at least as good as its
/// parent, or better? Never with a mean that is not usable.
bool is_neutral(const MetricMean& score, const MetricMean& parent, const Criteria& criteria);

/// Can a program with this mean, or one as good as this at best, be a repair? Exact: of finite
/// metrics none is significantly better without a better mean.
bool can_repair(const MetricMean& best, const Criteria& criteria);

/// Is a program with this mean of its first replicas neither neutral nor a repair, whatever the
/// others give?
bool ruled_out(const MetricMean& score, const MetricMean& parent, const Criteria& criteria);

/// Says of a program with all its replicas whether it is neutral, and a repair: Node::neutral and
/// Node::alternative. `reference`: what the metrics of a possible repair are compared with, as
/// compare_with() does.
void judge(const MetricMean& score, const MetricMean& parent, const Criteria& criteria,
           const std::vector<double>& reference, Node& node);

/// Are enough replicas of a program known to judge it, and what do they give?
struct Decision {
  MetricMean score;  ///< of the first `checked` replicas
  int checked = 0;   ///< replicas that were looked at, in order
  int counted = -1;  ///< replicas that decide; -1: not decided yet
};

/// Takes in the results that are known; true: it is decided. `ruled_out` says whether no later
/// replica can save a score.
template <typename RuledOut>
bool decide(const EvaluatedProgram& evaluation, int replicas, Decision& decision,
            const RuledOut& ruled_out) {
  if (decision.counted < 0 && evaluation.refusal) decision.counted = 0;
  while (decision.counted < 0) {
    if (decision.checked == replicas || ruled_out(decision.score)) {
      decision.counted = decision.checked;
      break;
    }
    const EvaluatedProgram::Slot& slot =
        evaluation.slots[static_cast<std::size_t>(decision.checked)];
    if (slot.origin == EvaluatedProgram::Origin::kNone) return false;
    decision.score.add(slot.result);
    ++decision.checked;
    if (slot.result.status == training::RunStatus::kFailed ||
        slot.result.status == training::RunStatus::kInvalid) {
      decision.score.usable = false;
      decision.counted = decision.checked;
    }
  }
  return true;
}

/// Gives the node of a program that is decided its status, metrics and mean, and counts it. True:
/// all replicas count.
bool conclude(const EvaluatedProgram& evaluation, int replicas, Decision& decision, Node& node,
              SearchCounters& counters);

/// p, d and significance of a program's metrics against others; nothing where there are none.
void compare_with(const std::vector<double>& reference, program::Goal goal, Node& node);

}  // namespace neutra::search
