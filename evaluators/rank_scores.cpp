#include "evaluators/rank_scores.h"

#include <algorithm>
#include <numeric>

namespace neutra::evaluators {
namespace {

using Names = std::function<bool(const Suspect& place, std::size_t thing)>;

/// For each rank how many things are first found there.
std::vector<int> finds_of(const Ranking& places, std::size_t relevant, const Names& names) {
  std::vector<bool> found(relevant);
  std::vector<int> finds;
  for (std::size_t first = 0; first < places.size();) {
    std::size_t end = first + 1;
    while (end < places.size() && places[end].suspiciousness == places[first].suspiciousness) ++end;
    std::vector<int> right;
    for (std::size_t i = first; i < end; ++i) {
      bool named = false;
      int fresh = 0;
      for (std::size_t item = 0; item < found.size(); ++item) {
        if (!names(places[i], item)) continue;
        named = true;
        fresh += !found[item];
        found[item] = true;
      }
      if (!named) finds.push_back(0);
      if (fresh > 0) right.push_back(fresh);
    }
    finds.insert(finds.end(), right.begin(), right.end());
    first = end;
  }
  return finds;
}

}  // namespace

double average_precision(std::span<const int> finds, std::size_t relevant, AveragePrecision kind) {
  double sum = 0;
  int right = 0, found = 0;
  for (std::size_t k = 0; k < finds.size(); ++k) {
    if (finds[k] == 0) continue;
    ++right;
    found += finds[k];
    sum += finds[k] * static_cast<double>(right) / static_cast<double>(k + 1);
  }
  const double divisor = kind == AveragePrecision::kStandard    ? static_cast<double>(relevant)
                         : kind == AveragePrecision::kRetrieved ? found
                                                                : static_cast<double>(finds.size());
  return divisor > 0 ? sum / divisor : 0;
}

RankScore rank_score(const Ranking& ranking, const program::FaultSet& truth,
                     const ScoreOptions& options, AveragePrecision kind) {
  const Names names = [&](const Suspect& suspect, std::size_t item) {
    program::FaultEntry place{suspect.type, {}};
    if (suspect.layer >= 0) place.layers.insert(suspect.layer);
    return match_weight({place}, truth.items[item], options) > 0;
  };
  return rank_score(ranking, truth.items.size(), names, kind);
}

RankScore rank_score(const Ranking& ranking, std::size_t relevant, const Names& names,
                     AveragePrecision kind) {
  const std::vector<int> finds = finds_of(distinct_places(ranking), relevant, names);
  const auto first = std::find_if(finds.begin(), finds.end(), [](int found) { return found > 0; });
  RankScore score;
  if (first != finds.end()) score.first = static_cast<int>(first - finds.begin()) + 1;
  score.average_precision = average_precision(finds, relevant, kind);
  return score;
}

RankScore best_rank_score(const Ranking& ranking, const std::vector<program::FaultSet>& truths,
                          const ScoreOptions& options) {
  std::vector<RankScore> scores;
  for (const program::FaultSet& truth : truths) {
    scores.push_back(rank_score(ranking, truth, options));
  }
  return best_rank_score(scores);
}

RankScore best_rank_score(const std::vector<RankScore>& scores) {
  RankScore best;
  for (const RankScore& one : scores) {
    if (one.first > 0 && (best.first == 0 || one.first < best.first)) best.first = one.first;
    best.average_precision = std::max(best.average_precision, one.average_precision);
  }
  return best;
}

RankSummary summary_of(std::span<const RankScore> scores) {
  RankSummary summary;
  for (const RankScore& score : scores) {
    summary.top1 += score.within(1);
    summary.top5 += score.within(5);
    summary.top10 += score.within(10);
    summary.mrr += score.reciprocal();
    summary.map += score.average_precision;
  }
  if (scores.empty()) return summary;
  for (double* value : {&summary.top1, &summary.top5, &summary.top10, &summary.mrr, &summary.map}) {
    *value /= static_cast<double>(scores.size());
  }
  return summary;
}

std::optional<double> performance_difference(double reference, double value) {
  if (reference == 0) return std::nullopt;
  return 100 * (reference - value) / reference;
}

}  // namespace neutra::evaluators
