#include "evaluators/mutation_score.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>

#include "base/json.h"
#include "base/numbers.h"

namespace neutra::evaluators {
namespace {

double published(double value, KillVariant variant) {
  return variant == KillVariant::kAsPublished ? python_round(value, 2) : value;
}

/// DeepCrime's sum of the distances of two configurations from the one that the training set kills:
/// the last without and the first with enough power on the test set, in the order of the values.
/// Survivors count, and ranges that fall (learning rates, epochs) have rules of their own.
double published_instability(const SearchRange& range, double train_killed, double test_killed,
                             const BinarySearch& test) {
  const bool falls = range.severe < range.harmless;
  std::map<double, bool> stable_by_value;
  for (const SearchStep& step : test.steps) {
    if (!step.verdict.missing) stable_by_value[step.value] = step.verdict.stable;
  }
  double unstable = 0;
  std::optional<double> stable;
  for (const auto& [value, is_stable] : stable_by_value) {
    if (!is_stable) unstable = value;
    if (is_stable && !stable && value >= test_killed) stable = value;
  }
  if (!stable || (unstable > *stable && !falls)) return 2;
  if (falls ? *stable < unstable && train_killed < unstable : unstable < train_killed) return 0;
  if (range.severe == train_killed || unstable == 0) return 0;
  if (unstable == range.severe) return 2;
  const double whole = std::abs(range.severe - train_killed);
  return python_round(std::abs(unstable - train_killed) / whole, 2) +
         python_round(std::abs(*stable - train_killed) / whole, 2);
}

/// The same of the configurations that the test set kills, by severity: survivors have no power to
/// be killed with, and say nothing of the kills.
double corrected_instability(const SearchRange& range, double train_killed,
                             const BinarySearch& test) {
  const auto severity = [&](double value) { return std::abs(value - range.harmless); };
  std::optional<double> unstable, stable;  // the most severe without, the mildest with power
  for (const SearchStep& step : test.steps) {
    if (!step.verdict.killed) continue;
    const double own = severity(step.value);
    if (step.verdict.stable) {
      stable = std::min(own, stable.value_or(own));
    } else {
      unstable = std::max(own, unstable.value_or(own));
    }
  }
  if (!unstable) return 0;
  if (!stable || *unstable > *stable) return 2;
  const double train = severity(train_killed);
  if (*unstable < train) return 0;
  const double whole = severity(range.severe) - train;
  return (*unstable - train + *stable - train) / whole;
}

}  // namespace

OperatorScore range_score(const SearchRange& range, KillVariant variant, const BinarySearch& train,
                          const BinarySearch& test) {
  if (!train.killed) return {};
  const double train_killed = *train.killed, test_killed = test.killed.value_or(range.severe);
  OperatorScore result;
  // The published tool takes an unkilled severe end for killed.
  if (train_killed == test_killed && (test.killed || variant == KillVariant::kAsPublished)) {
    result.score = 1;
  } else if (!test.killed) {
    result.score = 0;
  } else if (train_killed == range.severe) {
    // The test set kills what the training set doesn't.
    if (variant == KillVariant::kAsPublished) return {};
    result.score = 1;
  } else {
    result.score = std::min(
        1.0, published((range.severe - test_killed) / (range.severe - train_killed), variant));
  }
  result.instability = variant == KillVariant::kAsPublished
                           ? published_instability(range, train_killed, test_killed, test)
                           : corrected_instability(range, train_killed, test);
  return result;
}

OperatorScore list_score(std::span<const ConfigurationVerdict> verdicts, KillVariant variant) {
  std::vector<const ConfigurationVerdict*> killed;
  for (const ConfigurationVerdict& v : verdicts) {
    if (v.train.killed) killed.push_back(&v);
  }
  if (killed.empty()) return {};
  // The published tool removes from the list that it walks over: after each one that it drops it
  // misses the next.
  for (std::size_t i = 0; i < killed.size();) {
    const bool drop = !killed[i]->train.stable;
    if (drop) killed.erase(killed.begin() + static_cast<std::ptrdiff_t>(i));
    if (!drop || variant == KillVariant::kAsPublished) ++i;
  }
  OperatorScore result;
  if (killed.empty()) {
    // Nothing certain to compare with; the published tool scores 0.
    if (variant == KillVariant::kAsPublished) result.score = 0;
    return result;
  }
  const auto both = [](const ConfigurationVerdict* v) { return v->test.killed; };
  const auto shared = static_cast<double>(std::count_if(killed.begin(), killed.end(), both));
  result.score = published(shared / static_cast<double>(killed.size()), variant);
  const auto uncertain = static_cast<double>(
      std::count_if(killed.begin(), killed.end(),
                    [&](const ConfigurationVerdict* v) { return both(v) && !v->test.stable; }));
  if (shared > 0) result.instability = published(uncertain / shared, variant);
  return result;
}

std::optional<double> mutation_score(std::span<const OperatorScore> operators) {
  double sum = 0;
  int count = 0;
  for (const OperatorScore& o : operators) {
    if (!o.score || o.instability != 0) continue;
    sum += *o.score;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

KillCounts kill_counts(std::span<const std::vector<bool>> original,
                       std::span<const std::vector<bool>> mutant) {
  assert(original.size() == mutant.size());
  KillCounts counts{original.size(), {}};
  if (original.empty()) return counts;
  counts.inputs.assign(original.front().size(), 0);
  for (std::size_t run = 0; run < original.size(); ++run) {
    assert(original[run].size() == counts.inputs.size());
    assert(mutant[run].size() == counts.inputs.size());
    for (std::size_t i = 0; i < counts.inputs.size(); ++i) {
      counts.inputs[i] += original[run][i] && !mutant[run][i];
    }
  }
  return counts;
}

double triviality(const KillCounts& counts) {
  if (counts.inputs.empty() || counts.runs == 0) return 0;
  const auto kills = std::accumulate(counts.inputs.begin(), counts.inputs.end(), std::size_t{0});
  return static_cast<double>(kills) /
         (static_cast<double>(counts.inputs.size()) * static_cast<double>(counts.runs));
}

std::vector<bool> redundant(std::span<const KillCounts> mutants) {
  // DCReplication: redundancy_analysis.py.
  constexpr double kLevel = 0.1, kError = 0.05;
  std::vector<bool> result(mutants.size());
  if (mutants.empty()) return result;
  const std::size_t runs = mutants.front().runs;
  std::vector<Interval> intervals;
  for (std::size_t hits = 0; hits <= runs; ++hits) {
    intervals.push_back(wilson_interval(hits, runs, kLevel));
  }
  const auto overlap = [&](std::size_t a, std::size_t b) {
    return intervals[a].low <= intervals[b].high && intervals[b].low <= intervals[a].high;
  };
  for (std::size_t from = 0; from < mutants.size(); ++from) {
    for (std::size_t to = 0; to < mutants.size(); ++to) {
      if (from == to) continue;
      assert(mutants[from].runs == runs && mutants[to].runs == runs);
      assert(mutants[from].inputs.size() == mutants[to].inputs.size());
      std::size_t compared = 0;
      bool subsumes = true;
      for (std::size_t i = 0; subsumes && i < mutants[from].inputs.size(); ++i) {
        const std::size_t a = mutants[from].inputs[i], b = mutants[to].inputs[i];
        if (overlap(a, b)) continue;
        ++compared;
        subsumes = a <= b;
      }
      if (!subsumes || compared == 0) continue;
      const Interval share = wilson_interval(compared, compared, kLevel);
      if ((share.high - share.low) / 2 < kError) result[to] = true;
    }
  }
  return result;
}

}  // namespace neutra::evaluators
