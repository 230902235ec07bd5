#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "evaluators/comparison.h"
#include "evaluators/statistics.h"

namespace neutra::evaluators {

/// DeepCrime's kill test and what its published form gets wrong (docs/methods/killing.md).
enum class KillVariant {
  kCorrected,
  kAsPublished  ///< p rounded to three decimals, power with d in the place of Cohen's f
};

/// The statistical test of "the mutant is worse than the original".
struct KillOptions {
  bool maximize = true;  ///< of the metric: an accuracy; false: an error
  KillVariant variant = KillVariant::kCorrected;
};

inline constexpr double kKillLevel = kSignificanceLevel;
inline constexpr double kKillEffect = kLeastEffect;

/// Killed: the original is significantly better, p < kKillLevel and an effect of at least
/// kKillEffect for the worse (DeepCrime, ISSTA 2021, section 3); compare() says how metrics that
/// aren't finite count.
struct KillVerdict {
  /// There is none: fewer than two runs a side, a run that was cut off (callers say that), or, as
  /// published, a metric that isn't finite. Such a mutant is an error, neither killed nor a
  /// survivor.
  bool missing = false;
  double p = 1;
  double d = 0;      ///< (mean(original) - mean(mutant)) / pooled deviation, or compare()'s
  double power = 0;  ///< of finding an effect of that size; in [0, 1]
  bool killed = false;
  /// Killed with a power of at least 0.8. Published: any verdict with that power.
  bool stable = false;
};
/// Metrics of the runs, which ended by themselves: one that isn't finite is that of a training that
/// diverged, and worse than every finite one.
KillVerdict kill_test(std::span<const double> original, std::span<const double> mutant,
                      const KillOptions& options);

/// Will kill_test() say killed and stable (true), or not killed (false: survived or no verdict),
/// when the mutant's other runs are there, whatever they give? They give metrics in [0, 1]: an
/// accuracy is one even where a training diverged. nullopt: it is open, as it is where a metric
/// that is there isn't finite. `runs`: of the mutant, in all; `known`: those that are there. The
/// corrected variant alone has foregone outcomes: in the published one stability depends on all
/// runs of survivors, too.
std::optional<bool> foregone(std::span<const double> original, std::span<const double> known,
                             std::size_t runs, bool maximize);

/// Power of the F test of a one-way analysis of variance: Cohen's f, observations in all, level,
/// groups. statsmodels' FTestAnovaPower.
double anova_power(double f, double observations, double level = 0.05, double groups = 2);

/// Wilson's interval of a share (E. B. Wilson, 1927). `level`: of the errors at both ends together.
Interval wilson_interval(std::size_t hits, std::size_t count, double level);

/// The values of a mutation operator between the harmless end (the original) and the most severe.
struct SearchRange {
  double harmless = 0, severe = 0;
  double precision = 1;  ///< the search ends when killed and survived are no further apart
  int decimals = 0;      ///< to which values are rounded (half to even, as Python does)
};

/// One mutant of a search.
struct SearchStep {
  double harmless = 0, severe = 0;  ///< the bracket before it
  double value = 0;                 ///< tried; the first one is the severe end
  KillVerdict verdict;
};
/// What a search for the mildest killed value went through.
struct BinarySearch {
  std::vector<SearchStep> steps;
  /// Nearest to the harmless end of those that were killed, and the value next to it that survived
  /// (the harmless end itself, if none did; between the two are at most values without a verdict).
  /// Empty: nothing was killed.
  std::optional<double> killed, survived;
};
/// DeepCrime's bisection for the mildest value that is killed. It ends where the severe end
/// survives; where there is no verdict it goes on to milder values. `test` is asked for the verdict
/// of a value against a reference: an earlier value that survived, or nullopt for the original. The
/// published tool replaces the original by the last survivor; the corrected search never does.
using KillTest = std::function<KillVerdict(double value, std::optional<double> reference)>;
BinarySearch bisect(const SearchRange& range, KillVariant variant, const KillTest& test);

}  // namespace neutra::evaluators
