#include "evaluators/aggregates.h"

#include <algorithm>
#include <cmath>

namespace neutra::evaluators {
namespace {

constexpr std::array<std::string_view, kAggregates> kNames{
    "max",  "min",  "median", "mean",     "var",     "std",
    "skew", "kurt", "spar",   "mean_abs", "min_abs", "nonfinite"};

/// Partially sorts. Not empty.
template <typename T>
double middle_of(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  if (values.size() % 2 == 1) return upper;
  const double lower = *std::max_element(values.begin(), middle);
  return lower == upper ? upper : lower + (upper - lower) / 2;
}

}  // namespace

std::string_view to_string(Aggregate aggregate) {
  return kNames[static_cast<std::size_t>(aggregate)];
}

std::optional<Aggregate> parse_aggregate(std::string_view word) {
  const auto it = std::find(kNames.begin(), kNames.end(), word);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<Aggregate>(it - kNames.begin());
}

Aggregates aggregates(std::vector<float>& values, double close_to_zero) {
  Aggregates result;
  if (values.empty()) return result;
  const auto all = static_cast<double>(values.size());
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  const auto n = static_cast<double>(values.size());
  result[Aggregate::kNonfinite] = (all - n) / all;
  if (values.empty()) return result;

  // Moments about the median, which is at most one standard deviation from the mean: one pass loses
  // no digits to a large mean.
  const double origin = middle_of(values);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  double s1 = 0, s2 = 0, s3 = 0, s4 = 0, magnitudes = 0, close = 0;
  float min_abs = std::numeric_limits<float>::infinity();
  for (const float value : values) {
    const double x = value - origin, x2 = x * x;
    s1 += x;
    s2 += x2;
    s3 += x2 * x;
    s4 += x2 * x2;
    const float magnitude = std::abs(value);
    magnitudes += magnitude;
    close += magnitude <= close_to_zero ? 1 : 0;
    min_abs = std::min(min_abs, magnitude == 0 ? min_abs : magnitude);
  }
  const double m = s1 / n;
  const double var = *min == *max ? 0 : std::max(s2 / n - m * m, 0.0);
  result[Aggregate::kMax] = *max;
  result[Aggregate::kMin] = *min;
  result[Aggregate::kMedian] = origin;
  result[Aggregate::kMean] = origin + m;
  result[Aggregate::kVar] = var;
  result[Aggregate::kStd] = std::sqrt(var);
  if (var > 0) {
    const double third = s3 / n - 3 * m * s2 / n + 2 * m * m * m;
    const double fourth = s4 / n - 4 * m * s3 / n + 6 * m * m * s2 / n - 3 * m * m * m * m;
    result[Aggregate::kSkew] = third / (var * std::sqrt(var));
    result[Aggregate::kKurt] = fourth / (var * var);
  }
  result[Aggregate::kSpar] = close / n;
  result[Aggregate::kMeanAbs] = magnitudes / n;
  if (std::isfinite(min_abs)) result[Aggregate::kMinAbs] = min_abs;
  return result;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : middle_of(values);
}

}  // namespace neutra::evaluators
