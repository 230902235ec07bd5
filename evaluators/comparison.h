#pragma once

#include <span>

namespace neutra::evaluators {

/// Thresholds of a significant difference (the study, section 3; DeepCrime, ISSTA 2021, section 3).
inline constexpr double kSignificanceLevel = 0.05;  ///< of p
inline constexpr double kLeastEffect = 0.5;         ///< of Cohen's d

/// How the metrics of two programs differ.
struct Comparison {
  double p = 1;
  double d = 0;  ///< of `candidate` against `reference`, whichever is better; never a NaN
  /// p < kSignificanceLevel and d of at least kLeastEffect for the better; never with fewer than
  /// two values a side.
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

}  // namespace neutra::evaluators
