#include "evaluators/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace neutra::evaluators {
namespace {

/// Pooled variance of two samples, ddof 1 each; 0 where neither has two values.
double pooled_variance(std::span<const double> a, std::span<const double> b) {
  const double degrees = static_cast<double>(a.size()) + static_cast<double>(b.size()) - 2;
  if (degrees <= 0) return 0;
  const double squares = (static_cast<double>(a.size()) - 1) * sample_variance(a) +
                         (static_cast<double>(b.size()) - 1) * sample_variance(b);
  return squares / degrees;
}

/// Difference of the means and pooled variance, in a unit of their own.
struct Contrast {
  double difference = 0, variance = 0;
};
Contrast contrast(std::span<const double> a, std::span<const double> b) {
  // Squares of larger values overflow; a power of two changes no other digit.
  constexpr double kLarge = 1e150, kUnit = 0x1p-600;
  const auto is_large = [](double value) { return std::abs(value) > kLarge; };
  if (std::any_of(a.begin(), a.end(), is_large) || std::any_of(b.begin(), b.end(), is_large)) {
    std::vector<double> small_a(a.begin(), a.end()), small_b(b.begin(), b.end());
    for (double& value : small_a) value *= kUnit;
    for (double& value : small_b) value *= kUnit;
    return contrast(small_a, small_b);
  }
  return {mean(a) - mean(b), pooled_variance(a, b)};
}

}  // namespace

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

std::size_t count_not_finite(std::span<const double> values) {
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [](double value) { return !std::isfinite(value); }));
}

std::string diverged_text(std::size_t diverged, std::size_t runs) {
  return std::to_string(diverged) + " of " + std::to_string(runs) + " diverged";
}

double equality_tolerance(std::span<const double> values) {
  double largest = 1;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return 1e-12 * largest;
}

std::string p_text(double p) {
  if (std::isnan(p)) return "-";
  if (p < 1e-16) return "< 1e-16";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", p);
  return text;
}

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  // Ten times 0.1 has mean 0.1 exactly, so that equal values have no spread.
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) {
    return values.front();
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_variance(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return squares / (static_cast<double>(values.size()) - 1);
}

double cohens_d(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return 0;
  const Contrast c = contrast(a, b);
  if (c.difference == 0) return 0;
  return c.difference /
         std::sqrt(c.variance);  // spread 0: infinite, with the sign of the difference
}

double glm_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return 1;
  const Contrast c = contrast(b, a);
  if (c.difference == 0) return 1;
  const double error = std::sqrt(
      c.variance * (1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size())));
  return std::erfc(std::abs(c.difference / error) /
                   std::numbers::sqrt2);  // error 0: erfc(infinity) = 0
}

}  // namespace neutra::evaluators
