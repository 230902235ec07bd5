#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "training/batch.h"
#include "training/data/target_scale.h"

namespace neutra::training {

/// What a metric keeps of the rows that it has seen. Definitions and sources: training/metrics.h.
class MetricSum {
 public:
  MetricSum() = default;
  MetricSum(const MetricSum&) = delete;
  virtual ~MetricSum() = default;
  /// Throws input_error where shapes don't fit.
  virtual void add(const Batch& output, const Batch& target) = 0;
  virtual double value() const = 0;  ///< NaN without rows
  /// Counts of an accuracy; -1 for other metrics.
  virtual std::int64_t correct() const { return -1; }
  virtual std::int64_t total() const { return -1; }
  /// Does value() sort all rows?
  virtual bool sorts() const { return false; }
};

/// The metrics, by files of this folder.
namespace metrics {

using Sum = std::unique_ptr<MetricSum>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// accuracies.cpp
/// "accuracy", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy", and those
/// of Keras 2.2.4 (keras_release.h); null for other names.
Sum accuracy(const std::string& name);
/// An output above the threshold is 1.
Sum binary_accuracy(double threshold);
/// `sparse`: targets are class numbers, else rows of one number for each class.
Sum top_k_accuracy(bool sparse, std::int64_t k);

// means.cpp
/// Means over elements, or over rows, of a function of output and target: errors and losses; null
/// for other names. `scale`: of the targets, for errors.
Sum mean(const std::string& name, TargetScale scale);
/// Cross entropies of logits; null for other names.
Sum mean_of_logits(const std::string& name);

// confusion.cpp
Sum precision();
Sum recall();
Sum macro_f1();

// auc.cpp
Sum auc();

// r2.cpp
Sum r2(TargetScale scale);

}  // namespace metrics
}  // namespace neutra::training
