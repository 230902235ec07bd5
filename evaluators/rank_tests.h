#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace neutra::evaluators {

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
/// to equality_tolerance(), as those of decimals should. `a` and `b` have the same length.
RankTest wilcoxon_signed_rank(std::span<const double> a, std::span<const double> b);

/// Mann and Whitney's U test of two independent samples; the statistic is the U of `a`: the number
/// of pairs in which `a` is larger, ties counting half. Exact for samples of at most 20 values
/// without ties, else the normal approximation with corrections for ties and continuity (SciPy's
/// mannwhitneyu).
RankTest mann_whitney_u(std::span<const double> a, std::span<const double> b);

/// The same test with its exact distribution over all splits of the mid-ranks, with ties, too, for
/// at most 100 values in all; beyond that the normal approximation. Infinities of one sign tie.
RankTest rank_sum(std::span<const double> a, std::span<const double> b);

/// Friedman's test: do treatments differ, over blocks that each of them has a value in?
struct FriedmanTest {
  std::size_t treatments = 0, blocks = 0;
  /// Of each treatment over the blocks; the largest value of a block has the rank 1, equal values
  /// share the mean of their ranks.
  std::vector<double> mean_ranks;
  double chi_square = 0;  ///< corrected for ties (SciPy's friedmanchisquare)
  double p = 1;           ///< of it, treatments - 1 degrees of freedom
  double f = 0;           ///< Iman and Davenport's F: less conservative (1980)
  double f_p = 1;  ///< of it, treatments - 1 and (treatments - 1)(blocks - 1) degrees of freedom
};
/// `values[treatment][block]`, all of one length. Values are equal when they agree to
/// equality_tolerance(). Both p are 1 where there is nothing to compare: fewer than two
/// treatments or blocks, equal values in each block, a NaN.
FriedmanTest friedman(const std::vector<std::vector<double>>& values);

/// Nemenyi's critical difference: treatments whose mean ranks lie at least so far apart differ at
/// the level `level` (Demsar, Statistical comparisons of classifiers over multiple data sets, 2006,
/// section 3.2.2). At least two treatments and one block.
double nemenyi_critical_difference(std::size_t treatments, std::size_t blocks, double level);
/// Nemenyi's p of two treatments, corrected for all pairs.
double nemenyi_p(const FriedmanTest& test, std::size_t first, std::size_t second);

/// Holm's adjusted p of several tests, in their order: at a level a test is significant when its
/// adjusted p is at most the level (Holm, A simple sequentially rejective multiple test procedure,
/// 1979).
std::vector<double> holm(std::span<const double> p);

/// The fewest blocks on which one of `treatments` could differ from another at `level`: those with
/// which the smallest p that Wilcoxon's exact two-sided signed-rank test has, 2^(1-n) for n blocks
/// (one of 2^n patterns of signs on either side; Wilcoxon, 1945), is below the level after Holm's
/// adjustment for all pairs. 8 for four treatments at 0.05. At least two treatments; level in (0,
/// 1).
std::size_t least_blocks(std::size_t treatments, double level);

}  // namespace neutra::evaluators
