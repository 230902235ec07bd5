#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace neutra::evaluators {

/// Ends of a confidence interval.
struct Interval {
  double low = 0, high = 0;
};

/// True when no value is NaN or infinite, and for no values.
bool all_finite(std::span<const double> values);
/// How many are NaN or infinite: metrics of trainings that diverged.
std::size_t count_not_finite(std::span<const double> values);
/// "3 of 10 diverged"
std::string diverged_text(std::size_t diverged, std::size_t runs);

/// Values that lie no further apart count as equal: 1e-12, times the largest finite magnitude where
/// that is above 1. So differences of decimals tie.
double equality_tolerance(std::span<const double> values);

/// p for people: four significant digits, "< 1e-16" below that, "-" for a NaN. The tail of a normal
/// approximation so far out is no evidence (docs/methods/statistics.md); files keep the number.
std::string p_text(double p);

/// Sum in order, divided by the count; exactly the common value when all are equal. NaN for an
/// empty list or with a NaN.
double mean(std::span<const double> values);
double sample_variance(std::span<const double> values);  ///< ddof 1; 0 for fewer than two values

/// Cohen's d with the pooled standard deviation: (mean(a) - mean(b)) / s_pooled, ddof 1.
/// Zero spread: 0 for equal means, +-infinity otherwise (DeepCrime leaves 0/0 as NaN). 0 when a
/// sample is empty or holds a NaN or an infinity: no size of effect can be told.
double cohens_d(std::span<const double> a, std::span<const double> b);

/// Two-sided p of the slope of a Gaussian GLM of the values on a 0/1 group dummy (statsmodels:
/// normal, not t): z = (mean(b) - mean(a)) / (s_pooled sqrt(1/na + 1/nb)). Zero spread: 1 for equal
/// means, 0 otherwise. 1 when a sample is empty or holds a NaN or an infinity.
double glm_p(std::span<const double> a, std::span<const double> b);

}  // namespace neutra::evaluators
