#pragma once

#include <vector>

#include "search/evaluation_table.h"
#include "search/metric_mean.h"
#include "search/network.h"
#include "search/options.h"

namespace neutra::search {

/// Are enough replicas of a program known to judge it, and what do they give? The judgement itself
/// (neutral, a repair) is SearchMachine's, in machine.cpp.
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
