#include "evaluators/permutation_test.h"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/counter_random.h"
#include "evaluators/statistics.h"

namespace neutra::evaluators {
namespace {

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
    tolerance_ = equality_tolerance(finite_);
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
