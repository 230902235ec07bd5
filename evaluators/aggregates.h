#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace neutra::evaluators {

/// What is kept of many values, such as the gradients of a layer. The first nine are those of Shah
/// (Understanding the Challenges of Reproducing Deep Learning Bugs, 2024, Table 3.2).
enum class Aggregate {
  kMax,
  kMin,
  kMedian,  ///< of an even number of values: the mean of the two in the middle
  kMean,
  kVar,        ///< of the population: divided by the number of values
  kStd,        ///< its root
  kSkew,       ///< m3 / m2^1.5, population moments; NaN where all values are equal
  kKurt,       ///< Pearson's m4 / m2^2: 3 for a normal distribution; NaN where all are equal
  kSpar,       ///< share of values that are zero or close to it
  kMeanAbs,    ///< mean magnitude
  kMinAbs,     ///< smallest magnitude that isn't zero; NaN where all are zero
  kNonfinite,  ///< share of values that are NaN or infinite, and left out of all others
};
inline constexpr std::size_t kAggregates = 12;
std::string_view to_string(
    Aggregate aggregate);  ///< "max", ..., "mean_abs", "min_abs", "nonfinite"
/// nullopt for an unknown word.
std::optional<Aggregate> parse_aggregate(std::string_view word);

/// NaN where there is no value.
struct Aggregates {
  /// Of no values.
  Aggregates() { values.fill(std::numeric_limits<double>::quiet_NaN()); }
  double operator[](Aggregate a) const { return values[static_cast<std::size_t>(a)]; }
  double& operator[](Aggregate a) { return values[static_cast<std::size_t>(a)]; }
  std::array<double, kAggregates> values;
};

/// Close to zero: magnitudes up to this, where nothing else is said. Shah (2024) gives no number.
inline constexpr double kCloseToZero = 1e-8;

/// In double precision. Leaves `values` in another order, without those that aren't finite.
Aggregates aggregates(std::vector<float>& values, double close_to_zero = kCloseToZero);

/// Of those that aren't NaN; NaN where there is none. Infinities are values.
double median(std::vector<double> values);

}  // namespace neutra::evaluators
