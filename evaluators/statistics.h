#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace neutra::evaluators {

/// Ends of a confidence interval.
struct Interval {
  double low = 0, high = 0;
};

/// Thresholds of a significant difference (the study, section 3; DeepCrime, ISSTA 2021, section 3).
inline constexpr double kSignificanceLevel = 0.05;  ///< of p
inline constexpr double kLeastEffect = 0.5;         ///< of Cohen's d

bool all_finite(std::span<const double> values);
/// How many are NaN or infinite: metrics of trainings that diverged.
std::size_t count_not_finite(std::span<const double> values);
/// "3 of 10 diverged"
std::string diverged_text(std::size_t diverged, std::size_t runs);

/// p for people: four significant digits, "< 1e-16" below that, "-" for a NaN. So far out normal
/// tails are the model's, not evidence (docs/methods/statistics.md); files keep the number.
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

/// Significantly better: p < kSignificanceLevel and d of at least kLeastEffect for the better;
/// never with fewer than two values a side.
struct Comparison {
  double p = 1;
  double d = 0;  ///< of `candidate` against `reference`, whichever is better; never a NaN
  bool significant = false;
};
/// Is `candidate` significantly better than `reference`? `maximize`: larger is better.
/// Finite values: glm_p() and cohens_d(), as the study has it. Else a value that isn't finite, of a
/// training that diverged, is worse than every finite one and ties with its like, whatever the
/// goal: p is that of rank_sum(), and d the effect_of_superiority(), positive where the larger
/// metric is the candidate's. Where the reference has no finite value and the candidate no other,
/// the candidate is significantly better whatever p says (two or three values a side have no small
/// p). Metrics of trainings that were cut off (time, memory) tell nothing: leave the test out.
Comparison compare(std::span<const double> candidate, std::span<const double> reference,
                   bool maximize);

/// The d of two normal samples of equal spread whose first value is larger than the second with the
/// probability `superiority`, in [0, 1]: sqrt(2) quantile(superiority); 0.638 for d = 0.5, infinite
/// at 0 and 1 (McGraw and Wong, 1992; Ruscio, 2008).
double effect_of_superiority(double superiority);

/// Two-sided permutation test on the difference of means. Exact when the number of splits is at
/// most `limit` (ten against ten: 184,756), else `limit` random splits from a fixed seed and (hits
/// + 1) / (limit + 1). Differences are equal when they agree to 1e-12 (times the largest value, if
/// above 1). A NaN counts as +infinity: larger than all numbers, tied with other NaNs, so groups
/// are first compared by their shares of NaNs, then by the means of what is left. 1 for an empty
/// sample.
double permutation_p(std::span<const double> a, std::span<const double> b, long limit = 200000);

}  // namespace neutra::evaluators
