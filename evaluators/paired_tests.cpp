#include "evaluators/paired_tests.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cassert>
#include <cmath>
#include <limits>

namespace neutra::evaluators {

void PairedCounts::add(bool first, bool second) {
  ++(first ? (second ? both : first_only) : (second ? second_only : neither));
}

McNemarTest mcnemar(const PairedCounts& counts) {
  McNemarTest test;
  const auto b = static_cast<double>(counts.first_only);
  const auto c = static_cast<double>(counts.second_only);
  if (b + c == 0) return test;
  const boost::math::binomial coin(b + c, 0.5);
  test.exact_p = std::min(2 * boost::math::cdf(coin, std::min(b, c)), 1.0);
  const double beyond = std::max(std::abs(b - c) - 1, 0.0);
  test.statistic = beyond * beyond / (b + c);
  test.corrected_p = std::erfc(std::sqrt(test.statistic / 2));
  return test;
}

PairedOddsRatio paired_odds_ratio(const PairedCounts& counts, double level) {
  assert(level > 0 && level < 1);
  using Binomial = boost::math::binomial;
  const auto b = static_cast<double>(counts.first_only);
  const auto c = static_cast<double>(counts.second_only);
  const auto odds = [](double share) {
    return share < 1 ? share / (1 - share) : std::numeric_limits<double>::infinity();
  };
  PairedOddsRatio ratio;
  ratio.haldane = (b + 0.5) / (c + 0.5);
  ratio.high = std::numeric_limits<double>::infinity();
  if (b + c == 0) {
    ratio.estimate = std::numeric_limits<double>::quiet_NaN();
    return ratio;
  }
  const double tail = (1 - level) / 2;
  ratio.estimate = c > 0 ? b / c : std::numeric_limits<double>::infinity();
  ratio.low = odds(Binomial::find_lower_bound_on_p(b + c, b, tail));
  ratio.high = odds(Binomial::find_upper_bound_on_p(b + c, b, tail));
  return ratio;
}

}  // namespace neutra::evaluators
