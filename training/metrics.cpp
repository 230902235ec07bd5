#include "training/metrics.h"

#include <cmath>
#include <limits>

#include "program/error.h"

namespace neutra {
namespace {

/// Calls f(output value, target value) for every pair that NumPy's broadcasting makes of the two
/// batches.
template <typename F>
void for_each_pair(Batch output, Batch target, F f) {
  // Keras first drops a last dimension of 1 that only one side has.
  auto squeeze = [](Batch& longer, const Batch& shorter) {
    if (longer.extents.size() == shorter.extents.size() + 1 && longer.extents.back() == 1) {
      longer.extents.pop_back();
    }
  };
  squeeze(output, target);
  squeeze(target, output);
  if (output.extents == target.extents) {
    for (std::size_t i = 0; i < output.values.size(); ++i) f(output.values[i], target.values[i]);
    return;
  }
  const std::size_t rank = std::max(output.extents.size(), target.extents.size());
  Shape common(rank), output_stride(rank), target_stride(rank);
  auto align = [&](const Shape& extents, Shape& stride) {
    std::int64_t step = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::size_t to = rank - 1 - i;
      const std::int64_t n = extents[extents.size() - 1 - i];
      stride[to] = n == 1 ? 0 : step;
      step *= n;
      if (n != 1 && common[to] > 1 && common[to] != n) {
        throw input_error("metric: found outputs " + to_string(output.extents) + " and targets " +
                          to_string(target.extents) + "; allowed: shapes that broadcast");
      }
      if (common[to] <= 1) common[to] = n;
    }
  };
  align(output.extents, output_stride);
  align(target.extents, target_stride);
  Shape index(rank);
  std::int64_t count = 1;
  for (const std::int64_t n : common) count *= n;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t at_output = 0, at_target = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      at_output += index[d] * output_stride[d];
      at_target += index[d] * target_stride[d];
    }
    f(output.values[static_cast<std::size_t>(at_output)],
      target.values[static_cast<std::size_t>(at_target)]);
    for (std::size_t d = rank; d-- > 0 && ++index[d] == common[d];) index[d] = 0;
  }
}

}  // namespace

std::size_t argmax(std::span<const float> values) {
  float best = std::numeric_limits<float>::lowest();
  std::size_t index = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > best) {
      best = values[i];
      index = i;
    }
  }
  return index;
}

Metric::Metric(const std::string& name) : accuracy_(name == "accuracy"), squared_(name == "mse") {
  if (!accuracy_ && !squared_ && name != "mae") {
    throw input_error("metric: found " + name + "; allowed: accuracy, mae, mse, loss");
  }
}

void Metric::add_accuracy(const Batch& output, const Batch& target) {
  const std::int64_t width = output.extents.back();
  if (width == 1) {
    for_each_pair(output, target, [this](float o, float t) {
      correct_ += (o > 0.5f ? 1.0f : 0.0f) == t;
      ++total_;
    });
    return;
  }
  const bool sparse = target.extents.size() < output.extents.size() || target.extents.back() == 1;
  const auto n = static_cast<std::size_t>(width);
  const std::size_t rows = output.values.size() / n;
  const std::size_t target_width = sparse ? 1 : static_cast<std::size_t>(target.extents.back());
  if (target.values.size() != rows * target_width) {
    throw input_error("metric accuracy: found outputs " + to_string(output.extents) +
                      " and targets " + to_string(target.extents));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t predicted = argmax(output.values.subspan(row * n, n));
    correct_ += sparse
                    ? static_cast<float>(predicted) == target.values[row]
                    : predicted == argmax(target.values.subspan(row * target_width, target_width));
  }
  total_ += static_cast<std::int64_t>(rows);
}

void Metric::add(const Batch& output, const Batch& target) {
  if (accuracy_) {
    add_accuracy(output, target);
  } else {
    for_each_pair(output, target, [this](float o, float t) {
      const double difference = static_cast<double>(o) - t;
      sum_ += squared_ ? difference * difference : std::abs(difference);
      ++total_;
    });
  }
}

double Metric::value() const {
  if (total_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return (accuracy_ ? static_cast<double>(correct_) : sum_) / static_cast<double>(total_);
}

}  // namespace neutra
