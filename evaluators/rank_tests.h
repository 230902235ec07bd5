#pragma once

#include <span>

#include "evaluators/statistics.h"

namespace neutra {

/// A two-sided test on ranks. `p` is 1 where there is nothing to compare (no values, no
/// differences) or where a value is a NaN.
struct RankTest {
  double statistic = 0;
  double p = 1;
  bool exact = false;  ///< from the exact distribution, else from the normal approximation
};

/// Wilcoxon's signed-rank test of paired values. Pairs without a difference are dropped; the
/// statistic is the smaller of the two rank sums. Exact for at most 50 differences without ties,
/// else the normal approximation with the variance corrected for ties and no correction for
/// continuity (SciPy's wilcoxon with zero_method "wilcox"). Differences are equal when they agree
/// to 1e-12 (times the largest value, if above 1), as those of decimals should. `a` and `b` have
/// the same length.
RankTest wilcoxon_signed_rank(std::span<const double> a, std::span<const double> b);

/// Mann and Whitney's U test of two independent samples; the statistic is the U of `a`: the number
/// of pairs in which `a` is larger, ties counting half. Exact for samples of at most 20 values
/// without ties, else the normal approximation with corrections for ties and continuity (SciPy's
/// mannwhitneyu).
RankTest mann_whitney_u(std::span<const double> a, std::span<const double> b);

/// Bootstrap interval of the mean with bias correction and acceleration (BCa; Efron, Better
/// bootstrap confidence intervals, 1987). The draws follow from their numbers, so that the same
/// values in the same order give the same interval. `level` in (0, 1). Of equal values or fewer
/// than two it is their mean; NaNs where there is no value or a NaN.
Interval bootstrap_mean(std::span<const double> values, double level = 0.95, int draws = 10000);

}  // namespace neutra
