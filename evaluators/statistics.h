#pragma once

#include <span>

namespace neutra {

double mean(std::span<const double> values);
double sample_variance(std::span<const double> values);  ///< ddof 1; 0 for fewer than two values

/// Cohen's d with the pooled standard deviation: (mean(a) - mean(b)) / s_pooled, ddof 1.
/// Zero spread: 0 for equal means, +-infinity otherwise (DeepCrime leaves 0/0 as NaN: peers.md A2).
double cohens_d(std::span<const double> a, std::span<const double> b);

/// Two-sided p of the slope of a Gaussian GLM of the values on a 0/1 group dummy (statsmodels: normal, not t):
/// z = (mean(b) - mean(a)) / (s_pooled sqrt(1/na + 1/nb)). Zero spread: 1 for equal means, 0 otherwise.
double glm_p(std::span<const double> a, std::span<const double> b);

/// Significantly different in the study's sense: glm_p < 0.05 and |d| >= 0.5 with `better` ahead.
struct Comparison {
  double p = 1;
  double d = 0;
  bool significant = false;
};
/// Is `candidate` significantly better than `reference`? `maximize`: larger is better.
Comparison compare(std::span<const double> candidate, std::span<const double> reference, bool maximize);

/// Two-sided permutation test on the difference of means. Exact when the number of splits is at most `limit` (ten against
/// ten: 184,756), else Monte Carlo with a fixed Philox seed and (hits + 1) / (n + 1). NaNs count as +infinity ties: see .cpp.
double permutation_p(std::span<const double> a, std::span<const double> b, long limit = 200000);

}  // namespace neutra
