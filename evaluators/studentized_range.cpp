#include "evaluators/studentized_range.h"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace neutra::evaluators {

double studentized_range_tail(double q, int groups) {
  assert(groups >= 2);
  if (!(q > 0)) return 1;
  const auto below = [](double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; };
  // P(range <= q) = k times the integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1) over the largest
  // value z. The trapezoidal rule converges exponentially for such a function.
  constexpr int kSteps = 32;  ///< of one
  constexpr int kEnd = 9;     ///< beyond it phi is less than 1e-17
  double sum = 0;
  for (int i = -kEnd * kSteps; i <= kEnd * kSteps; ++i) {
    const double z = static_cast<double>(i) / kSteps;
    sum += std::exp(-z * z / 2) * std::pow(below(z) - below(z - q), groups - 1);
  }
  const double share = groups * sum / kSteps / std::sqrt(2 * std::numbers::pi);
  return std::clamp(1 - share, 0.0, 1.0);
}

double studentized_range_quantile(double tail, int groups) {
  assert(tail > 0 && tail < 1);
  double high = 1;
  while (studentized_range_tail(high, groups) > tail) high *= 2;
  constexpr int kBits = 48;
  std::uintmax_t most = 200;
  const auto [low_end, high_end] = boost::math::tools::toms748_solve(
      [&](double q) { return studentized_range_tail(q, groups) - tail; }, 0.0, high,
      boost::math::tools::eps_tolerance<double>(kBits), most);
  return (low_end + high_end) / 2;
}

}  // namespace neutra::evaluators
