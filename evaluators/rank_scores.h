#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "evaluators/ranking.h"
#include "evaluators/scores.h"

namespace neutra::evaluators {

/// What the sum of an average precision is divided by.
enum class AveragePrecision {
  kStandard,   ///< the number of things to find: those not found count as 0
  kRetrieved,  ///< the number of things found (as BLIA's evaluation does)
  kLiteral     ///< the length of the list, as bug-localisation studies print the formula
};

/// Average precision of a list: `finds[k]` says how many of `relevant` things are first found at
/// rank k + 1, 0 for a wrong place. Sum over the things found of the share of right places up to
/// their rank, divided as `kind` says. 0 where there is nothing to divide by.
double average_precision(std::span<const int> finds, std::size_t relevant,
                         AveragePrecision kind = AveragePrecision::kStandard);

/// How well a ranking finds the faults of a ground truth.
struct RankScore {
  int first = 0;  ///< rank, from 1, of the first right place; 0: no place is right
  double average_precision = 0;
  /// 1 / first; 0 where no place is right.
  double reciprocal() const { return first > 0 ? 1.0 / first : 0; }
  /// Is a place among the first k right?
  bool within(int k) const { return first > 0 && first <= k; }
};

/// Over distinct places. A place is right when it names an item of the truth as `options` say (a
/// place without a type: when an item has its layer); a right one that names nothing new is passed
/// over, so that a fault of several layers counts once. Of tied places the wrong ones come first (a
/// tool that suspects all alike has said nothing), then the right ones by layer and type, whatever
/// the order in which the tool names them.
RankScore rank_score(const Ranking& ranking, const program::FaultSet& truth,
                     const ScoreOptions& options,
                     AveragePrecision kind = AveragePrecision::kStandard);

/// The same for `relevant` things to find, where `names` says which of them a place names.
RankScore rank_score(const Ranking& ranking, std::size_t relevant,
                     const std::function<bool(const Suspect& place, std::size_t thing)>& names,
                     AveragePrecision kind = AveragePrecision::kStandard);

/// After neutrality analysis: the best rank and the largest average precision over all ground
/// truths. Truths without items are passed over.
RankScore best_rank_score(const Ranking& ranking, const std::vector<program::FaultSet>& truths,
                          const ScoreOptions& options);

/// The same over scores, one for each truth.
RankScore best_rank_score(const std::vector<RankScore>& scores);

/// Over queries: shares of those with a right place among the first 1, 5 and 10 (Top@K), means of
/// the reciprocal rank (MRR) and of the average precision (MAP). All in [0, 1].
struct RankSummary {
  double top1 = 0, top5 = 0, top10 = 0, mrr = 0, map = 0;
};
RankSummary summary_of(std::span<const RankScore> scores);

/// PerformanceDiff: how far `value` lies below `reference`, in percent of it (Wattanakriengkrai et
/// al., Predicting defective lines using a model-agnostic technique, 2022). nullopt for a reference
/// of 0.
std::optional<double> performance_difference(double reference, double value);

}  // namespace neutra::evaluators
