#include "search/metric_mean.h"

#include <cmath>
#include <limits>

namespace neutra::search {

void MetricMean::add(const training::ReplicaResult& result) {
  ++replicas;
  usable = usable && std::isfinite(result.metric);
  sum += result.metric;
  exact = exact && result.correct >= 0 && result.total > 0;
  if (exact) {
    correct += result.correct;
    total += result.total;
  }
}

double MetricMean::mean() const {
  if (!usable || replicas == 0) return std::numeric_limits<double>::quiet_NaN();
  return exact ? static_cast<double>(correct) / static_cast<double>(total) : sum / replicas;
}

std::optional<MetricMean> MetricMean::completed(int count, double bound) const {
  MetricMean best = *this;
  best.replicas = count;
  if (replicas == 0) {
    best.exact = false;
  } else if (exact) {
    if ((bound != 0 && bound != 1) || total % replicas != 0) return std::nullopt;
    const std::int64_t rows = total / replicas * (count - replicas);
    best.total += rows;
    if (bound == 1) best.correct += rows;
  }
  // Rounded addition is monotonic: no real sum in replica order can be better than this one.
  for (int i = replicas; i < count; ++i) best.sum += bound;
  return best;
}

MetricMean mean_of_level(double level) {
  MetricMean score;
  score.usable = std::isfinite(level);
  score.exact = false;
  score.sum = level;
  score.replicas = 1;
  return score;
}

int compare_means(const MetricMean& a, const MetricMean& b, program::Goal goal) {
  if (!a.usable || !b.usable) return a.usable - b.usable;
  int order = 0;
  if (a.exact && b.exact) {
    const auto left = static_cast<__int128>(a.correct) * b.total;
    const auto right = static_cast<__int128>(b.correct) * a.total;
    order = (left > right) - (left < right);
  } else {
    const bool sums = !a.exact && !b.exact && a.replicas == b.replicas;
    const double left = sums ? a.sum : a.mean();
    const double right = sums ? b.sum : b.mean();
    order = (left > right) - (left < right);
  }
  return goal == program::Goal::kMaximize ? order : -order;
}

}  // namespace neutra::search
