#include "evaluators/kill_test.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/numbers.h"

namespace neutra::evaluators {
namespace {

// DeepCrime: stats.py, mutation_score.py.
constexpr double kPower = 0.8;

}  // namespace

KillVerdict kill_test(std::span<const double> original, std::span<const double> mutant,
                      const KillOptions& options) {
  KillVerdict verdict;
  const bool published = options.variant == KillVariant::kAsPublished;
  verdict.missing = original.size() < 2 || mutant.size() < 2 ||
                    (published && (!all_finite(original) || !all_finite(mutant)));
  if (verdict.missing) return verdict;
  const Comparison original_better = compare(original, mutant, options.maximize);
  verdict.d = original_better.d;
  verdict.p = published ? python_round(original_better.p, 3) : original_better.p;
  verdict.killed =
      original_better.significant && (!published || verdict.p < kKillLevel);  // p was rounded
  const double f = published ? verdict.d : std::abs(verdict.d) / 2;
  verdict.power = anova_power(f, static_cast<double>(original.size() + mutant.size()), kKillLevel);
  verdict.stable = verdict.power >= kPower && (verdict.killed || published);
  return verdict;
}

std::optional<bool> foregone(std::span<const double> original, std::span<const double> known,
                             std::size_t runs, bool maximize) {
  assert(known.size() <= runs);
  if (original.size() < 2 || runs < 2) return false;
  // Of finite metrics kill_test() is "d is at least so much": p and power depend on |d| alone. As a
  // function of the other runs, d is a mean, which is linear, over a deviation, which is convex.
  // Where positive, such a quotient is quasi-concave: smallest at a corner of the cube, and, since
  // the runs may change places, largest where they are all equal.
  const std::size_t open = runs - known.size();
  std::vector<double> values(known.begin(), known.end());
  values.resize(runs);
  const std::span<double> others = std::span(values).last(open);
  const auto verdict = [&] { return kill_test(original, values, {maximize}); };
  if (open == 0) {
    const KillVerdict known_all = verdict();
    if (known_all.killed != known_all.stable) return std::nullopt;
    return known_all.killed;
  }
  // Where a metric isn't finite, kill_test() ranks: what follows is about d alone.
  if (!all_finite(original) || !all_finite(known)) return std::nullopt;

  bool all_corners = true;
  for (std::size_t ones = 0; ones <= open && all_corners; ++ones) {
    std::fill(others.begin(), others.end(), 0.0);
    std::fill_n(others.begin(), ones, 1.0);
    all_corners = verdict().stable;
  }
  if (all_corners) return true;

  const auto harm_at = [&](double t) {
    std::fill(others.begin(), others.end(), t);
    const double d = cohens_d(original, values);
    return maximize ? d : -d;
  };
  // The largest d by ternary search: quasi-concave where positive. Without any spread it is
  // infinite: that can only be at the mean of the known runs.
  double low = 0, high = 1;
  for (int i = 0; i < 100; ++i) {
    const double third = (high - low) / 3;
    if (harm_at(low + third) < harm_at(high - third)) {
      low += third;
    } else {
      high -= third;
    }
  }
  double best = std::max({harm_at((low + high) / 2), harm_at(0), harm_at(1)});
  if (!known.empty()) best = std::max(best, harm_at(std::clamp(mean(known), 0.0, 1.0)));
  // What p and d ask of d, with room for rounding.
  const double n = static_cast<double>(original.size()), m = static_cast<double>(runs);
  const double z = quantile(boost::math::complement(boost::math::normal(), kKillLevel / 2));
  const double needed = std::max(kKillEffect, z * std::sqrt(1 / n + 1 / m));
  if (best < needed * (1 - 1e-9)) return false;
  return std::nullopt;
}

double anova_power(double f, double observations, double level, double groups) {
  const double between = groups - 1, within = observations - groups;
  if (within < 1 || std::isnan(f)) return 0;
  if (f == 0) return level;
  const double noncentral = f * f * observations;
  // Beyond that the tail can't be told from 1 (and the series would not end).
  if (!std::isfinite(noncentral) || noncentral > 1e4) return 1;
  const double critical = quantile(complement(boost::math::fisher_f(between, within), level));
  return cdf(complement(boost::math::non_central_f(between, within, noncentral), critical));
}

Interval wilson_interval(std::size_t hits, std::size_t count, double level) {
  assert(hits <= count);
  if (count == 0) return {0, 1};
  const double n = static_cast<double>(count), share = static_cast<double>(hits) / n;
  const double z = quantile(boost::math::complement(boost::math::normal(), level / 2));
  const double center = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, center - half), std::min(1.0, center + half)};
}

BinarySearch bisect(const SearchRange& range, KillVariant variant, const KillTest& test) {
  assert(range.harmless != range.severe && range.precision > 0);
  BinarySearch search;
  double low = range.harmless, high = range.severe;
  std::optional<double> reference;
  // Without a verdict (a run that was cut off, a program that is refused) a mutant isn't killed,
  // but it may be too severe for one: the search goes on to milder values, as after one that was
  // killed.
  const auto survives = [&](double value) {
    const KillVerdict verdict = test(value, reference);
    search.steps.push_back({low, high, value, verdict});
    if (verdict.killed) search.killed = value;
    return !verdict.killed && !verdict.missing;
  };
  if (survives(high)) return search;
  while (std::abs(high - low) > range.precision) {
    const double middle = python_round((low + high) / 2, range.decimals);
    // Rounding may leave nothing between the two.
    if (middle == low || middle == high) break;
    if (survives(middle)) {
      low = middle;
      if (variant == KillVariant::kAsPublished) reference = middle;
    } else {
      high = middle;
    }
  }
  if (search.killed) search.survived = low;
  return search;
}

}  // namespace neutra::evaluators
