#include "evaluators/rank_tests.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "evaluators/statistics.h"
#include "evaluators/studentized_range.h"

namespace neutra::evaluators {
namespace {

constexpr std::size_t kExactDifferences = 50;
constexpr std::size_t kExactSample = 20;
constexpr std::size_t kExactRanks = 100;  // of both samples: some ten million additions

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

/// Ranks from 1, equal values sharing the mean of their ranks.
struct Ranks {
  std::vector<double> of;  ///< in the order of the values
  double ties = 0;         ///< sum of t^3 - t over groups of t equal values
};

Ranks rank(const std::vector<double>& values, double equal_within) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  Ranks ranks;
  ranks.of.resize(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    const auto ties = [&](double value, double next) {
      return next == value || next - value <= equal_within;  // infinities have no difference
    };
    while (end < order.size() && ties(values[order[end - 1]], values[order[end]])) ++end;
    const auto size = static_cast<double>(end - first);
    for (std::size_t i = first; i < end; ++i) {
      ranks.of[order[i]] = static_cast<double>(first) + (size + 1) / 2;
    }
    ranks.ties += size * size * size - size;
    first = end;
  }
  return ranks;
}

double two_sided(double z) { return std::min(1.0, std::erfc(std::abs(z) / std::numbers::sqrt2)); }

/// Share of the 2^n sets of ranks 1..n whose sum is at most `sum`.
double signed_rank_tail(std::size_t n, std::size_t sum) {
  std::vector<double> share(n * (n + 1) / 2 + 1, 0);
  share[0] = 1;
  std::size_t top = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    top += rank;
    for (std::size_t s = top + 1; s-- > 0;) {
      share[s] = (share[s] + (s >= rank ? share[s - rank] : 0)) / 2;
    }
  }
  return std::accumulate(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(sum) + 1, 0.0);
}

/// Share of the arrangements of na and nb values whose U is at most `u`.
double u_tail(std::size_t na, std::size_t nb, std::size_t u) {
  // ways[i][j][k]: arrangements of i and j values with U = k; the last value is of one sample or
  // the other.
  std::vector<std::vector<double>> row(nb + 1);
  for (auto& ways : row) ways.assign(1, 1);
  for (std::size_t i = 1; i <= na; ++i) {
    for (std::size_t j = 1; j <= nb; ++j) {
      std::vector<double> ways(i * j + 1, 0);
      for (std::size_t k = 0; k < row[j].size(); ++k) ways[k + j] += row[j][k];
      for (std::size_t k = 0; k < row[j - 1].size(); ++k) ways[k] += row[j - 1][k];
      row[j] = std::move(ways);
    }
  }
  const auto& ways = row[nb];
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  return std::accumulate(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(u) + 1, 0.0) /
         all;
}

/// Two samples ranked together.
struct PooledRanks {
  PooledRanks(std::span<const double> a, std::span<const double> b)
      : na(static_cast<double>(a.size())), nb(static_cast<double>(b.size())), count(a.size()) {
    std::vector<double> all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    ranks = rank(all, 0);
    for (std::size_t i = 0; i < count; ++i) sum += ranks.of[i];
  }

  double u() const { return sum - na * (na + 1) / 2; }

  /// Two-sided, with corrections for ties and continuity.
  double normal_p() const {
    const double n = na + nb;
    const double variance = na * nb / 12 * (n + 1 - ranks.ties / (n * (n - 1)));
    if (variance <= 0) return 1;  // all values equal
    constexpr double kContinuity = 0.5;
    const double distance = std::abs(u() - na * nb / 2);
    return two_sided(std::max(0.0, distance - kContinuity) / std::sqrt(variance));
  }

  /// Share of the splits into samples of these sizes whose rank sum lies as far from its mean.
  double exact_p() const {
    // Twice the ranks are whole numbers. ways[k][s]: choices of k of them with the sum s.
    const std::size_t n = ranks.of.size();
    std::vector<std::vector<double>> ways(count + 1);
    ways[0] = {1};
    for (const double one : ranks.of) {
      const auto twice = static_cast<std::size_t>(std::lround(2 * one));
      for (std::size_t k = count; k > 0; --k) {
        const std::vector<double>& fewer = ways[k - 1];
        if (fewer.empty()) continue;
        ways[k].resize(std::max(ways[k].size(), fewer.size() + twice));
        for (std::size_t s = 0; s < fewer.size(); ++s) ways[k][s + twice] += fewer[s];
      }
    }
    const auto mean = static_cast<long>(count * (n + 1));
    const long observed = std::labs(std::lround(2 * sum) - mean);
    double hits = 0, all = 0;
    for (std::size_t s = 0; s < ways[count].size(); ++s) {
      all += ways[count][s];
      if (std::labs(static_cast<long>(s) - mean) >= observed) hits += ways[count][s];
    }
    return hits / all;
  }

  double na, nb;
  std::size_t count;  ///< of the first sample
  Ranks ranks;
  double sum = 0;  ///< of the first sample's ranks
};

}  // namespace

RankTest wilcoxon_signed_rank(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  RankTest result;
  if (has_nan(a) || has_nan(b)) return result;
  const double equal_within = std::max(equality_tolerance(a), equality_tolerance(b));
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] == b[i] ? 0 : a[i] - b[i];
    if (std::abs(difference) <= equal_within) continue;
    sizes.push_back(std::abs(difference));
    positive.push_back(difference > 0);
  }
  if (sizes.empty()) return result;
  const Ranks ranks = rank(sizes, equal_within);
  const auto n = static_cast<double>(sizes.size());
  double plus = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) plus += positive[i] ? ranks.of[i] : 0;
  const double all = n * (n + 1) / 2;
  result.statistic = std::min(plus, all - plus);
  result.exact = ranks.ties == 0 && sizes.size() <= kExactDifferences;
  if (result.exact) {
    const auto sum = static_cast<std::size_t>(std::lround(result.statistic));
    result.p = std::min(1.0, 2 * signed_rank_tail(sizes.size(), sum));
    return result;
  }
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.ties / 48;
  result.p = two_sided((result.statistic - all / 2) / std::sqrt(variance));
  return result;
}

RankTest mann_whitney_u(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || has_nan(a) || has_nan(b)) return {};
  const PooledRanks pooled(a, b);
  RankTest result{pooled.u(), 1, false};
  result.exact = pooled.ranks.ties == 0 && std::max(a.size(), b.size()) <= kExactSample;
  if (!result.exact) {
    result.p = pooled.normal_p();
    return result;
  }
  const double smaller = std::min(result.statistic, pooled.na * pooled.nb - result.statistic);
  result.p =
      std::min(1.0, 2 * u_tail(a.size(), b.size(), static_cast<std::size_t>(std::lround(smaller))));
  return result;
}

RankTest rank_sum(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || has_nan(a) || has_nan(b)) return {};
  const PooledRanks pooled(a, b);
  const bool exact = a.size() + b.size() <= kExactRanks;
  return {pooled.u(), exact ? pooled.exact_p() : pooled.normal_p(), exact};
}

FriedmanTest friedman(const std::vector<std::vector<double>>& values) {
  FriedmanTest test;
  test.treatments = values.size();
  test.blocks = values.empty() ? 0 : values.front().size();
  const auto k = static_cast<double>(test.treatments), n = static_cast<double>(test.blocks);
  test.mean_ranks.assign(test.treatments, (k + 1) / 2);
  if (k < 2 || n < 2 || std::any_of(values.begin(), values.end(), has_nan)) return test;

  std::vector<double> sums(test.treatments, 0);
  double ties = 0;
  for (std::size_t block = 0; block < test.blocks; ++block) {
    std::vector<double> losses;  // the largest value has the first rank
    for (const auto& treatment : values) losses.push_back(-treatment[block]);
    const Ranks ranks = rank(losses, equality_tolerance(losses));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += ranks.of[i];
    ties += ranks.ties;
  }
  double squares = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    test.mean_ranks[i] = sums[i] / n;
    const double beyond = sums[i] - n * (k + 1) / 2;
    squares += beyond * beyond;
  }
  // Ranks are multiples of 1/2: these sums are exact.
  const double spread = n * k * (k + 1) - ties / (k - 1);
  if (spread <= 0) return test;  // equal values in each block
  test.chi_square = 12 * squares / spread;
  using boost::math::cdf, boost::math::complement;
  test.p = cdf(complement(boost::math::chi_squared(k - 1), test.chi_square));
  const double most = n * (k - 1);  // all blocks order the treatments alike
  if (test.chi_square < most) {
    test.f = (n - 1) * test.chi_square / (most - test.chi_square);
    test.f_p = cdf(complement(boost::math::fisher_f(k - 1, (k - 1) * (n - 1)), test.f));
  } else {
    test.f = std::numeric_limits<double>::infinity();
    test.f_p = 0;
  }
  return test;
}

namespace {

/// Standard error of the difference of two mean ranks.
double rank_error(std::size_t treatments, std::size_t blocks) {
  const auto k = static_cast<double>(treatments);
  return std::sqrt(k * (k + 1) / (6 * static_cast<double>(blocks)));
}

}  // namespace

double nemenyi_critical_difference(std::size_t treatments, std::size_t blocks, double level) {
  assert(treatments >= 2 && blocks >= 1);
  const double range = studentized_range_quantile(level, static_cast<int>(treatments));
  return range / std::numbers::sqrt2 * rank_error(treatments, blocks);
}

double nemenyi_p(const FriedmanTest& test, std::size_t first, std::size_t second) {
  const double apart = std::abs(test.mean_ranks.at(first) - test.mean_ranks.at(second));
  return studentized_range_tail(
      apart / rank_error(test.treatments, test.blocks) * std::numbers::sqrt2,
      static_cast<int>(test.treatments));
}

std::size_t least_blocks(std::size_t treatments, double level) {
  assert(treatments >= 2 && level > 0);
  const auto k = static_cast<double>(treatments);
  std::size_t blocks = 1;
  // pairs times 2^(1-n)
  for (double p = k * (k - 1) / 2; p >= level; p /= 2) ++blocks;
  return blocks;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p[order[i]] * static_cast<double>(p.size() - i));
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace neutra::evaluators
