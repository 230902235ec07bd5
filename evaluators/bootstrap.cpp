#include "evaluators/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/counter_random.h"

namespace neutra::evaluators {

Interval bootstrap_mean(std::span<const double> values, double level, int draws) {
  assert(level > 0 && level < 1 && draws > 0);
  const double center = mean(values);
  if (std::isnan(center) || values.size() < 2 || sample_variance(values) == 0) {
    return {center, center};
  }
  const std::size_t n = values.size();
  std::vector<double> means(static_cast<std::size_t>(draws));
  std::uint64_t counter = 0;
  for (double& drawn : means) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += values[mixed(counter++) % n];
    drawn = sum / static_cast<double>(n);
  }
  std::sort(means.begin(), means.end());

  // Bias: where the observed mean lies among the drawn ones, ties counting half.
  const double equal_within = equality_tolerance(values);
  const auto first = std::lower_bound(means.begin(), means.end(), center - equal_within);
  const auto last = std::upper_bound(means.begin(), means.end(), center + equal_within);
  const double below =
      (static_cast<double>(first - means.begin()) + static_cast<double>(last - means.begin())) / 2 /
      static_cast<double>(draws);
  if (below <= 0 || below >= 1) return {center, center};
  // Acceleration from the jackknife; leaving a value out moves the mean by its distance.
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double distance = value - center;
    squares += distance * distance;
    cubes += distance * distance * distance;
  }
  const double acceleration = cubes / (6 * std::pow(squares, 1.5));

  const boost::math::normal normal;
  const double bias = quantile(normal, below);
  const auto end = [&](double tail) {
    const double z = bias + quantile(normal, tail);
    const double share = cdf(normal, bias + z / (1 - acceleration * z));
    // Linear between neighbours, as NumPy's percentile.
    const double place = share * static_cast<double>(draws - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, means.size() - 1);
    return means[low] + (means[high] - means[low]) * (place - static_cast<double>(low));
  };
  return {end((1 - level) / 2), end((1 + level) / 2)};
}

}  // namespace neutra::evaluators
