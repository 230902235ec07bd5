#pragma once

#include <span>

/// Reductions with NumPy's rounding. Tools that compare means with 0 or with each other owe some of
/// their messages to it.
namespace neutra::fl_adapters {

/// np.mean: pairwise sums over blocks of 128 with eight partial sums each, in the values' own
/// precision. NaN for no values.
float numpy_mean(std::span<const float> values);
double numpy_mean(std::span<const double> values);

/// np.mean(values) == np.max(values): with NumPy's rounding, true for most windows of equal values.
bool mean_is_max(std::span<const float> values);
bool mean_is_max(std::span<const double> values);

/// The mean of an array, and what it can't tell.
struct Mean {
  float value = 0;
  bool zeros = false;  ///< every value is 0; a mean of 0 may also be a sum that cancels
};
/// np.mean of the values, and whether all are 0.
Mean mean_of(std::span<const float> values);

}  // namespace neutra::fl_adapters
