#pragma once

#include <span>

namespace neutra {

/// Ends of a confidence interval.
struct Interval {
  double low = 0, high = 0;
};

/// Thresholds of a significant difference (the study, section 3; DeepCrime, ISSTA 2021, section 3).
inline constexpr double kSignificanceLevel = 0.05;  ///< of p
inline constexpr double kLeastEffect = 0.5;         ///< of Cohen's d

bool all_finite(std::span<const double> values);

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

/// Significantly better in the study's sense: glm_p < kSignificanceLevel and d of at least
/// kLeastEffect for the better; never with fewer than two values a side.
struct Comparison {
  double p = 1;
  double d = 0;  ///< of `candidate` against `reference`, whichever is better
  bool significant = false;
};
/// Is `candidate` significantly better than `reference`? `maximize`: larger is better.
Comparison compare(std::span<const double> candidate, std::span<const double> reference,
                   bool maximize);

/// Two-sided permutation test on the difference of means. Exact when the number of splits is at
/// most `limit` (ten against ten: 184,756), else `limit` random splits from a fixed seed and (hits
/// + 1) / (limit + 1). Differences are equal when they agree to 1e-12 (times the largest value, if
/// above 1). A NaN counts as +infinity: larger than all numbers, tied with other NaNs, so groups
/// are first compared by their shares of NaNs, then by the means of what is left. 1 for an empty
/// sample.
double permutation_p(std::span<const double> a, std::span<const double> b, long limit = 200000);

}  // namespace neutra
