#include "fl_adapters/numpy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "training/clones.h"

namespace neutra::fl_adapters {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kBlock = 128;

/// A block of at most 128 values, at least 8.
template <typename T>
inline T block_sum(const T* values, std::size_t size) {
  std::array<T, kLanes> r;
  for (std::size_t j = 0; j < kLanes; ++j) r[j] = values[j];
  std::size_t i = kLanes;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) r[j] += values[i + j];
  }
  T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < size; ++i) sum += values[i];
  return sum;
}

// target_clones takes no templates and no inlined callers: one function for each type.
NEUTRA_CLONES float blocks(const float* values, std::size_t size) {
  return block_sum(values, size);
}
NEUTRA_CLONES double blocks(const double* values, std::size_t size) {
  return block_sum(values, size);
}

template <typename T>
T pairwise_sum(const T* values, std::size_t size) {
  if (size < kLanes) {
    T sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += values[i];
    return sum;
  }
  if (size <= kBlock) return blocks(values, size);
  std::size_t half = size / 2;
  half -= half % kLanes;
  return pairwise_sum(values, half) + pairwise_sum(values + half, size - half);
}

template <typename T>
T mean(std::span<const T> values) {
  const T sum = pairwise_sum(values.data(), values.size());
  return static_cast<T>(static_cast<double>(sum) / static_cast<double>(values.size()));
}

template <typename T>
bool is_max(std::span<const T> values) {
  // A NaN among the values makes the mean NaN, which equals nothing.
  return !values.empty() && mean(values) == *std::max_element(values.begin(), values.end());
}

}  // namespace

float numpy_mean(std::span<const float> values) { return mean(values); }
double numpy_mean(std::span<const double> values) { return mean(values); }
bool mean_is_max(std::span<const float> values) { return is_max(values); }
bool mean_is_max(std::span<const double> values) { return is_max(values); }

Mean mean_of(std::span<const float> values) {
  const float value = mean(values);
  return {value,
          value == 0 && std::all_of(values.begin(), values.end(), [](float v) { return v == 0; })};
}

}  // namespace neutra::fl_adapters
