#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "training/batch.h"
#include "training/data/target_scale.h"

/// Outputs and targets side by side.
namespace neutra::training::metrics {

/// Throws input_error: the metric `name` can't compare these. `name`: "" or with a space before.
[[noreturn]] void refuse(const std::string& name, const Batch& output, const Batch& target,
                         const std::string& allowed);

/// Numbers of a batch, on their original scale.
struct Numbers {
  const Batch& batch;
  const TargetScale* scale = nullptr;
  double operator[](std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    const double value = batch.values[at];
    if (scale == nullptr || scale->factor.empty()) return value;
    const std::size_t element = at % scale->factor.size();
    return value * scale->factor[element] + scale->offset[element];
  }
};

/// What NumPy's broadcasting makes of the extents of two batches, after Keras's rule that a last
/// dimension of 1 which only one side has is dropped.
struct Broadcast {
  program::Shape common, output_stride, target_stride;

  /// Throws input_error for shapes that don't broadcast.
  Broadcast(const Batch& output, const Batch& target);

  /// Calls f(place of the output's element, place of the target's) for each pair, in order.
  template <typename F>
  void each(F f) const {
    const std::size_t rank = common.size();
    program::Shape index(rank);
    std::int64_t count = 1;
    for (const std::int64_t n : common) count *= n;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t at_output = 0, at_target = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        at_output += index[d] * output_stride[d];
        at_target += index[d] * target_stride[d];
      }
      f(at_output, at_target);
      for (std::size_t d = rank; d-- > 0 && ++index[d] == common[d];) index[d] = 0;
    }
  }
};

/// Keras drops a last dimension of 1 that only one side has.
void squeeze(program::Shape& longer, const program::Shape& shorter);

/// Calls f(output value, target value) for every pair that broadcasting makes of two batches.
template <typename F>
void for_each_pair(const Numbers& output, const Numbers& target, F f) {
  const program::Shape &o = output.batch.extents, &t = target.batch.extents;
  program::Shape squeezed = o;
  squeeze(squeezed, t);
  if (squeezed == t) {  // most programs
    for (std::size_t i = 0; i < output.batch.values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      f(output[at], target[at]);
    }
    return;
  }
  Broadcast(output.batch, target.batch).each([&](std::int64_t a, std::int64_t b) {
    f(output[a], target[b]);
  });
}

/// Rows of scores and what the targets say of each.
struct Scores {
  std::size_t width = 0, rows = 0;
  bool labels = false;           ///< a target is the number of a class; else a row of its own
  std::size_t target_width = 1;  ///< of such a row
  std::span<const float> output, target;

  /// `name`: of the metric. Throws input_error unless there is a target for each row.
  Scores(const std::string& name, const Batch& o, const Batch& t, bool as_labels);
  /// The numbers of a row.
  std::span<const float> scores(std::size_t row) const {
    return output.subspan(row * width, width);
  }
  std::span<const float> targets(std::size_t row) const {
    return target.subspan(row * target_width, target_width);
  }
};

/// Keras's rule: are the targets of several outputs class numbers?
bool are_labels(const Batch& output, const Batch& target);

/// Above the threshold of Keras's metrics, as is a positive label.
inline bool positive(double value) { return value > 0.5; }

}  // namespace neutra::training::metrics
