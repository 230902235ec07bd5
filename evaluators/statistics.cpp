#include "evaluators/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/counter_random.h"
#include "evaluators/rank_tests.h"

namespace neutra::evaluators {

namespace {

/// Pooled variance of two samples, ddof 1 each; 0 where neither has two values.
double pooled_variance(std::span<const double> a, std::span<const double> b) {
  const double degrees = static_cast<double>(a.size()) + static_cast<double>(b.size()) - 2;
  if (degrees <= 0) return 0;
  const double squares = (static_cast<double>(a.size()) - 1) * sample_variance(a) +
                         (static_cast<double>(b.size()) - 1) * sample_variance(b);
  return squares / degrees;
}

/// Difference of the means and pooled variance, in a unit of their own.
struct Contrast {
  double difference = 0, variance = 0;
};
Contrast contrast(std::span<const double> a, std::span<const double> b) {
  // Squares of larger values overflow; a power of two changes no other digit.
  constexpr double kLarge = 1e150, kUnit = 0x1p-600;
  const auto is_large = [](double value) { return std::abs(value) > kLarge; };
  if (std::any_of(a.begin(), a.end(), is_large) || std::any_of(b.begin(), b.end(), is_large)) {
    std::vector<double> small_a(a.begin(), a.end()), small_b(b.begin(), b.end());
    for (double& value : small_a) value *= kUnit;
    for (double& value : small_b) value *= kUnit;
    return contrast(small_a, small_b);
  }
  return {mean(a) - mean(b), pooled_variance(a, b)};
}

/// Larger is better; what isn't finite is worse than all else.
std::vector<double> by_merit(std::span<const double> values, bool maximize) {
  std::vector<double> merits;
  for (const double value : values) {
    merits.push_back(std::isfinite(value) ? (maximize ? value : -value)
                                          : -std::numeric_limits<double>::infinity());
  }
  return merits;
}

/// Difference of two means as the limit for "NaN is a value larger than all others": first the
/// difference in shares of infinite values (as a whole number: both shares times both sizes), then
/// that of the finite parts.
struct Distance {
  std::int64_t infinite = 0;
  double finite = 0;
};

/// The values of both samples in one list and how far apart a choice of na of them lies from the
/// rest.
class Pool {
 public:
  Pool(std::span<const double> a, std::span<const double> b) : na_(a.size()), nb_(b.size()) {
    for (const std::span<const double> sample : {a, b}) {
      for (const double value : sample) {
        // NaN: larger than all, like +infinity.
        infinite_.push_back(std::isfinite(value) ? 0 : value < 0 ? -1 : 1);
        finite_.push_back(std::isfinite(value) ? value : 0);
      }
    }
    infinite_total_ = std::accumulate(infinite_.begin(), infinite_.end(), std::int64_t{0});
    finite_total_ = std::accumulate(finite_.begin(), finite_.end(), 0.0);
    double largest = 1;
    for (const double value : finite_) largest = std::max(largest, std::abs(value));
    tolerance_ = 1e-12 * largest;
  }

  std::size_t size() const { return finite_.size(); }
  std::size_t chosen() const { return na_; }
  int infinite(std::size_t i) const { return infinite_[i]; }
  double finite(std::size_t i) const { return finite_[i]; }

  /// `infinite`, `finite`: sums over the chosen values.
  Distance distance(std::int64_t infinite, double finite) const {
    const auto na = static_cast<std::int64_t>(na_);
    const auto nb = static_cast<std::int64_t>(nb_);
    const std::int64_t shares = infinite * nb - (infinite_total_ - infinite) * na;
    const double means =
        finite / static_cast<double>(na) - (finite_total_ - finite) / static_cast<double>(nb);
    if (shares == 0) return {0, std::abs(means)};
    return shares > 0 ? Distance{shares, means} : Distance{-shares, -means};
  }

  /// Is `distance` at least `observed`, up to rounding?
  bool reaches(const Distance& distance, const Distance& observed) const {
    if (distance.infinite != observed.infinite) return distance.infinite > observed.infinite;
    return distance.finite >= observed.finite - tolerance_;
  }

 private:
  std::size_t na_, nb_;
  std::vector<int> infinite_;
  std::vector<double> finite_;
  std::int64_t infinite_total_ = 0;
  double finite_total_ = 0;
  double tolerance_ = 0;
};

/// Number of ways to choose k of n, at most `limit` + 1.
long binomial(std::size_t n, std::size_t k, long limit) {
  double count = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    count = count * static_cast<double>(n - k + i) / static_cast<double>(i);
    if (count > static_cast<double>(limit)) return limit + 1;
  }
  return std::lround(count);
}

/// Hits among all choices that extend the values chosen so far by `left` of those from `next` on.
long count_hits(const Pool& pool, const Distance& observed, std::size_t next, std::size_t left,
                std::int64_t infinite, double finite) {
  if (left == 0) return pool.reaches(pool.distance(infinite, finite), observed) ? 1 : 0;
  long hits = 0;
  for (std::size_t i = next; i + left <= pool.size(); ++i) {
    hits += count_hits(pool, observed, i + 1, left - 1, infinite + pool.infinite(i),
                       finite + pool.finite(i));
  }
  return hits;
}

/// Hits among `draws` random choices: the first values of partial Fisher-Yates shuffles.
long sample_hits(const Pool& pool, const Distance& observed, long draws) {
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t counter = 0;
  long hits = 0;
  for (long draw = 0; draw < draws; ++draw) {
    std::int64_t infinite = 0;
    double finite = 0;
    for (std::size_t i = 0; i < pool.chosen(); ++i) {
      const std::size_t j = i + static_cast<std::size_t>(mixed(counter++) % (pool.size() - i));
      std::swap(order[i], order[j]);
      infinite += pool.infinite(order[i]);
      finite += pool.finite(order[i]);
    }
    hits += pool.reaches(pool.distance(infinite, finite), observed) ? 1 : 0;
  }
  return hits;
}

}  // namespace

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

std::size_t count_not_finite(std::span<const double> values) {
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [](double value) { return !std::isfinite(value); }));
}

std::string diverged_text(std::size_t diverged, std::size_t runs) {
  return std::to_string(diverged) + " of " + std::to_string(runs) + " diverged";
}

std::string p_text(double p) {
  if (std::isnan(p)) return "-";
  if (p < 1e-16) return "< 1e-16";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", p);
  return text;
}

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  // Ten times 0.1 has mean 0.1 exactly, so that equal values have no spread.
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) {
    return values.front();
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_variance(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return squares / (static_cast<double>(values.size()) - 1);
}

double cohens_d(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return 0;
  const Contrast c = contrast(a, b);
  if (c.difference == 0) return 0;
  return c.difference /
         std::sqrt(c.variance);  // spread 0: infinite, with the sign of the difference
}

double glm_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return 1;
  const Contrast c = contrast(b, a);
  if (c.difference == 0) return 1;
  const double error = std::sqrt(
      c.variance * (1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size())));
  return std::erfc(std::abs(c.difference / error) /
                   std::numbers::sqrt2);  // error 0: erfc(infinity) = 0
}

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

double permutation_p(std::span<const double> a, std::span<const double> b, long limit) {
  if (a.empty() || b.empty()) return 1;
  const Pool pool(a, b);
  std::int64_t infinite = 0;
  double finite = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    infinite += pool.infinite(i);
    finite += pool.finite(i);
  }
  const Distance observed = pool.distance(infinite, finite);
  const long splits = binomial(pool.size(), pool.chosen(), limit);
  if (splits <= limit) {
    return static_cast<double>(count_hits(pool, observed, 0, pool.chosen(), 0, 0)) /
           static_cast<double>(splits);
  }
  return static_cast<double>(sample_hits(pool, observed, limit) + 1) /
         static_cast<double>(limit + 1);
}

}  // namespace neutra::evaluators
