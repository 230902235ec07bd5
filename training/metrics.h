#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "program/program.h"

namespace neutra {

/// A batch of outputs or targets: row-major floats with extents that include the batch.
struct Batch {
  std::span<const float> values;
  Shape extents;
};

/// Running sum of one of Keras's metrics over batches: "accuracy", "mae" or "mse".
///
/// Accuracy is what tf.keras 2.4 makes of the string: binary accuracy (threshold 0.5, target
/// broadcast) where the output's last dimension is 1; sparse categorical where the target has a
/// lower rank or last dimension 1; else categorical (training/metrics of
/// MetricsContainer._get_metric_object). Argmax takes the first maximum; NaN never wins, all NaN is
/// 0.
class Metric {
 public:
  explicit Metric(const std::string& name);
  void add(const Batch& output, const Batch& target);
  /// Mean so far; NaN without rows.
  double value() const;
  /// Exact counts of an accuracy, -1 for other metrics.
  std::int64_t correct() const { return accuracy_ ? correct_ : -1; }
  std::int64_t total() const { return accuracy_ ? total_ : -1; }

 private:
  void add_accuracy(const Batch& output, const Batch& target);

  bool accuracy_, squared_;
  std::int64_t correct_ = 0, total_ = 0;
  double sum_ = 0;
};

/// Index of the largest value, ignoring NaN; the first of equal ones; 0 where there is none.
std::size_t argmax(std::span<const float> values);

}  // namespace neutra
