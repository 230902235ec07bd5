#include "evaluators/comparison.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "evaluators/rank_tests.h"
#include "evaluators/statistics.h"

namespace neutra::evaluators {
namespace {

/// Larger is better; what isn't finite is worse than all else.
std::vector<double> by_merit(std::span<const double> values, bool maximize) {
  std::vector<double> merits;
  for (const double value : values) {
    merits.push_back(std::isfinite(value) ? (maximize ? value : -value)
                                          : -std::numeric_limits<double>::infinity());
  }
  return merits;
}

}  // namespace

Comparison compare(std::span<const double> candidate, std::span<const double> reference,
                   bool maximize) {
  // One value a side has no spread: any difference would look certain.
  const bool enough = candidate.size() > 1 && reference.size() > 1;
  Comparison result;
  bool certain = false;
  double better = 0;  // d, for the better
  if (all_finite(candidate) && all_finite(reference)) {
    result = {glm_p(candidate, reference), cohens_d(candidate, reference), false};
    better = maximize ? result.d : -result.d;
  } else if (!candidate.empty() && !reference.empty()) {
    const RankTest test = rank_sum(by_merit(candidate, maximize), by_merit(reference, maximize));
    const double pairs =
        static_cast<double>(candidate.size()) * static_cast<double>(reference.size());
    better = effect_of_superiority(test.statistic / pairs);
    result = {test.p, maximize || better == 0 ? better : -better, false};
    certain = all_finite(candidate) && count_not_finite(reference) == reference.size();
  }
  result.significant =
      enough && (certain || (result.p < kSignificanceLevel && better >= kLeastEffect));
  return result;
}

double effect_of_superiority(double superiority) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (superiority <= 0) return -kInfinity;
  if (superiority >= 1) return kInfinity;
  if (superiority == 0.5) return 0;
  return std::numbers::sqrt2 * quantile(boost::math::normal(), superiority);
}

}  // namespace neutra::evaluators
