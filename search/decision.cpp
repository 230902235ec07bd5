#include "search/decision.h"

#include <algorithm>
#include <limits>

#include "evaluators/comparison.h"

namespace neutra::search {

bool is_neutral(const MetricMean& score, const MetricMean& parent, const Criteria& criteria) {
  if (!score.usable) return false;
  const int order = compare_means(score, parent, criteria.goal);
  return criteria.rule == Rule::kRecorded ? order > 0 : order >= 0;
}

bool can_repair(const MetricMean& best, const Criteria& criteria) {
  if (!best.usable) return false;
  if (criteria.level && compare_means(best, *criteria.level, criteria.goal) < 0) return false;
  return !criteria.buggy || compare_means(best, *criteria.buggy, criteria.goal) > 0;
}

bool ruled_out(const MetricMean& score, const MetricMean& parent, const Criteria& criteria) {
  if (!score.usable) return true;
  if (!criteria.metric_bound) return false;
  const auto best = score.completed(criteria.replicas, *criteria.metric_bound);
  return best && !is_neutral(*best, parent, criteria) && !can_repair(*best, criteria);
}

void judge(const MetricMean& score, const MetricMean& parent, const Criteria& criteria,
           const std::vector<double>& reference, Node& node) {
  node.neutral = is_neutral(score, parent, criteria);
  if (!can_repair(score, criteria)) return;
  compare_with(reference, criteria.goal, node);
  node.alternative = !criteria.buggy || node.significant;
}

bool conclude(const EvaluatedProgram& evaluation, int replicas, Decision& decision, Node& node,
              SearchCounters& counters) {
  training::RunStatus worst = training::RunStatus::kOk;
  for (int replica = 0; replica < decision.counted; ++replica) {
    const training::ReplicaResult& result =
        evaluation.slots[static_cast<std::size_t>(replica)].result;
    node.metrics.push_back(result.metric);
    counters.diverged += result.status == training::RunStatus::kDiverged;
    counters.timed_out += result.status == training::RunStatus::kTimeout;
    worst = std::max(worst, result.status);  // the enumeration goes from harmless to fatal
  }
  const bool complete = decision.counted == replicas;
  if (evaluation.refusal || worst == training::RunStatus::kInvalid) {
    node.status = to_string(training::RunStatus::kInvalid);
    decision.score.usable = false;
    ++counters.invalid;
  } else if (complete || !training::has_metric(worst)) {
    node.status = to_string(worst);
    counters.failed += !training::has_metric(worst);
  } else {
    node.status = "curtailed";
  }
  if (!complete && node.status == "curtailed") {
    counters.trainings_saved_curtailed += replicas - decision.counted;
  }
  node.mean = complete ? decision.score.mean() : std::numeric_limits<double>::quiet_NaN();
  return complete;
}

void compare_with(const std::vector<double>& reference, program::Goal goal, Node& node) {
  if (reference.empty()) return;
  const evaluators::Comparison comparison =
      evaluators::compare(node.metrics, reference, goal == program::Goal::kMaximize);
  node.p = comparison.p;
  node.d = comparison.d;
  node.significant = comparison.significant;
}

}  // namespace neutra::search
