#pragma once

#include <cstdint>

namespace neutra::evaluators {

/// Pairs of two yes-or-no outcomes, such as the presence of a symptom in a faulty and in a clean
/// training.
struct PairedCounts {
  std::int64_t both = 0, first_only = 0, second_only = 0, neither = 0;
  /// Counts one pair.
  void add(bool first, bool second);
};

/// McNemar's test of "both outcomes are as likely" (McNemar, 1947), from the pairs that differ.
struct McNemarTest {
  double exact_p = 1;    ///< two-sided binomial test with 1/2: twice the smaller tail, at most 1
  double statistic = 0;  ///< chi-square with Edwards's correction: max(|b - c| - 1, 0)^2 / (b + c)
  double corrected_p = 1;  ///< its p, one degree of freedom
};
/// All p are 1 where no pair differs.
McNemarTest mcnemar(const PairedCounts& counts);

/// How much likelier the first outcome is than the second, within pairs.
struct PairedOddsRatio {
  /// The conditional maximum-likelihood estimate: first_only / second_only. Infinite where the
  /// latter is 0; NaN where no pair differs.
  double estimate = 0;
  double haldane = 1;  ///< (first_only + 1/2) / (second_only + 1/2): always finite
  /// Of the estimate: Clopper and Pearson's exact interval of the share of first_only among the
  /// pairs that differ, as odds. 0 to infinity where none does.
  double low = 0, high = 0;
};
/// `level` in (0, 1): of confidence.
PairedOddsRatio paired_odds_ratio(const PairedCounts& counts, double level = 0.95);

}  // namespace neutra::evaluators
