#include "training/data/columns.h"

#include <algorithm>
#include <cmath>

namespace neutra::training {

Columns describe_columns(const Table& table) {
  const auto width = static_cast<std::size_t>(table.row_size());
  Columns c{std::vector<double>(width), std::vector<double>(width),
            std::vector<double>(width, INFINITY), std::vector<double>(width, -INFINITY)};
  std::vector<double> count(width);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const double v = table.values[i];
    if (!std::isfinite(v)) continue;
    ++count[i % width];
    c.mean[i % width] += v;
    c.min[i % width] = std::min(c.min[i % width], v);
    c.max[i % width] = std::max(c.max[i % width], v);
  }
  for (std::size_t i = 0; i < width; ++i) c.mean[i] /= count[i];
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!std::isfinite(table.values[i])) continue;
    const double d = table.values[i] - c.mean[i % width];
    c.stddev[i % width] += d * d;
  }
  for (std::size_t i = 0; i < width; ++i) c.stddev[i] = std::sqrt(c.stddev[i] / count[i]);
  return c;
}

}  // namespace neutra::training
