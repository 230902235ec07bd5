#pragma once

#include <cstdint>
#include <optional>

#include "program/program.h"
#include "training/trainer.h"

namespace neutra::search {

/// The mean of some replicas, kept so that comparisons are exact: accuracies as integer counts,
/// other metrics as their sum in replica order.
struct MetricMean {
  bool usable = true;  ///< every metric is finite; otherwise the score is the worst possible
  bool exact = true;   ///< every metric is correct / total
  std::int64_t correct = 0, total = 0;  ///< over all replicas, while exact
  double sum = 0;                       ///< of the metrics, in replica order
  int replicas = 0;                     ///< how many were added

  /// Takes in the next replica.
  void add(const training::ReplicaResult& result);
  double mean() const;  ///< NaN when not usable or empty
  /// The best that this mean can become: with the best possible metric (`bound`) for the replicas
  /// up to `count`; nullopt where that can't be told exactly.
  std::optional<MetricMean> completed(int count, double bound) const;
};
/// A level given as a number, to compare means with; one that isn't finite is not usable.
MetricMean mean_of_level(double level);

/// Positive: `a` is better, 0: a tie, negative: worse. A mean that is not usable is worse than any
/// other.
int compare_means(const MetricMean& a, const MetricMean& b, program::Goal goal);

}  // namespace neutra::search
