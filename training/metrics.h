#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "program/program.h"
#include "training/batch.h"
#include "training/data/target_scale.h"

namespace neutra::training {

class MetricSum;

/// A metric over batches, by its name (program/metric_name.h): every entry of
/// program/keras_names.json but "loss". Values are those of all rows together, however they come in
/// batches; sums are in double precision.
///
/// Sources. tf.keras 2.4, metrics.py and losses.py, function of the same name: the accuracies, the
/// errors, the cross entropies, the hinges, Precision, Recall (threshold 0.5), cosine_similarity
/// (the metric: 1 is best). Losses are taken of the outputs themselves: probabilities clipped to
/// [1e-7, 1 - 1e-7], logits where the metric's name says so, no penalties of regularisers; the
/// hinges look at the labels of all rows, not of a batch. scikit-learn 1.0: r2 (r2_score: mean over
/// the targets' elements; 1 or 0 where targets don't vary, as the outputs are equal to them or
/// not), macro_f1 (f1_score, average "macro": over the classes that targets or outputs name), AUC
/// (roc_auc_score: all thresholds, ties count half; several outputs: mean over one class against
/// the rest, of the classes that some rows have and some don't). tf.keras 2.4's AUC takes 200
/// thresholds and all outputs in one.
///
/// "accuracy" is what tf.keras 2.4 makes of the string: binary accuracy (threshold 0.5, target
/// broadcast) where the output's last dimension is 1; sparse categorical where the target has a
/// lower rank or last dimension 1; else categorical (MetricsContainer._get_metric_object). Keras
/// 2.2.4 (metric_of(), keras_release.h) goes by the loss instead, takes any output of one value for
/// binary, and rounds binary outputs (keras/metrics.py). AUC and
/// macro_f1 read classes by the same rule. Argmax takes the first maximum; NaN never wins, all NaN
/// is 0. A top-k accuracy counts a row where fewer than k scores are above the target's and all are
/// finite (TensorFlow's kernel in_topk_op). A score that is NaN makes an AUC NaN, and so do rows of
/// one class.
class Metric {
 public:
  /// Throws input_error for an unknown name. `scale`: of the targets, for metrics on their original
  /// one.
  explicit Metric(const std::string& name, TargetScale scale = {});
  Metric(Metric&&) noexcept;
  Metric& operator=(Metric&&) noexcept;
  ~Metric();

  /// Throws input_error where shapes don't fit; validate() refuses such programs.
  void add(const Batch& output, const Batch& target);
  /// Of all rows so far; NaN without rows.
  double value() const;
  /// Exact counts of an accuracy, -1 for other metrics.
  std::int64_t correct() const;
  std::int64_t total() const;
  /// Does value() sort all rows? Too slow to be asked after each batch.
  bool sorts() const;

 private:
  std::unique_ptr<MetricSum> sum_;
};

/// Why the metric has no value for these targets, whatever the outputs; empty: it has.
std::string undefined_metric(const program::ResolvedProgram& program, const Batch& targets);

/// Is it the share of rows or elements that are right?
bool is_accuracy(const std::string& metric);

}  // namespace neutra::training
