#include "training/observer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace neutra::training {

Statistics statistics(std::span<const float> values) {
  Statistics s;
  s.count = values.size();
  s.min = std::numeric_limits<double>::infinity();
  s.max = -s.min;
  double sum = 0, squares = 0;
  for (const float value : values) {
    if (std::isnan(value)) {
      ++s.nan;
    } else if (std::isinf(value)) {
      ++s.infinite;
    } else {
      const double v = value;
      s.zeros += v == 0;
      s.min = std::min(s.min, v);
      s.max = std::max(s.max, v);
      s.mean_abs += std::abs(v);
      sum += v;
    }
  }
  const std::size_t finite = s.count - s.nan - s.infinite;
  if (finite == 0) {
    s.min = s.max = 0;
    return s;
  }
  const auto n = static_cast<double>(finite);
  s.mean = sum / n;
  s.mean_abs /= n;
  for (const float value : values) {
    if (std::isfinite(value)) squares += (value - s.mean) * (value - s.mean);
  }
  s.stddev = std::sqrt(squares / n);
  return s;
}

}  // namespace neutra::training
