#include "fl_adapters/tools/thedeepchecker/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "fl_adapters/tools/thedeepchecker/messages.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

using Matrix = std::vector<double>;

/// Row-major features with the mean of each column taken off.
Matrix centred(std::span<const float> values, std::size_t rows) {
  const std::size_t width = values.size() / rows;
  Matrix centred(values.begin(), values.end());
  for (std::size_t column = 0; column < width; ++column) {
    double mean = 0;
    for (std::size_t row = 0; row < rows; ++row) mean += centred[row * width + column];
    mean /= static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) centred[row * width + column] -= mean;
  }
  return centred;
}

/// Products of all pairs of rows.
Matrix gram(const Matrix& features, std::size_t rows) {
  const std::size_t width = features.size() / rows;
  Matrix products(rows * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i; j < rows; ++j) {
      products[i * rows + j] = products[j * rows + i] =
          std::inner_product(features.begin() + static_cast<std::ptrdiff_t>(i * width),
                             features.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                             features.begin() + static_cast<std::ptrdiff_t>(j * width), 0.0);
    }
  }
  return products;
}

/// Hilbert-Schmidt independence criterion of two Gram matrices, debiased as in the tool.
double independence(const Matrix& a, const Matrix& b, std::size_t rows) {
  const auto n = static_cast<double>(rows);
  const double dot = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  double squares = 0, trace_a = 0, trace_b = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    squares += a[i * rows + i] * b[i * rows + i];
    trace_a += a[i * rows + i];
    trace_b += b[i * rows + i];
  }
  return dot - n / (n - 2) * squares + trace_a * trace_b / ((n - 1) * (n - 2));
}

}  // namespace

double smoothness(std::span<const double> curve) {
  if (curve.empty()) return 1;
  std::size_t turns = 0;
  for (std::size_t i = 2; i < curve.size(); ++i) {
    turns += (curve[i] / curve[i - 1] > 1) != (curve[i - 1] / curve[i - 2] > 1);
  }
  return static_cast<double>(curve.size() - turns) / static_cast<double>(curve.size());
}

double saturation(std::vector<float> values) {
  const double bins = limit("saturation_bins");
  std::map<double, std::pair<double, double>> sums;  // bin -> count, sum
  for (const float value : values) {
    auto& [count, sum] = sums[std::clamp<double>(std::floor(value * bins), -1, bins - 1)];
    ++count;
    sum += value;
  }
  double total = 0;
  for (const auto& [bin, entry] : sums) {
    const auto& [count, sum] = entry;
    total += std::abs(2 * sum / count - 1) * count;
  }
  return total / static_cast<double>(values.size());
}

double similarity(std::span<const float> a, std::span<const float> b, std::size_t rows) {
  const Matrix x = gram(centred(a, rows), rows), y = gram(centred(b, rows), rows);
  const double scale = std::sqrt(independence(x, x, rows)) * std::sqrt(independence(y, y, rows));
  return independence(x, y, rows) / scale;
}

double percentile(std::vector<float> values, double percent) {
  const double place = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  if (place == static_cast<double>(below)) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + (high - low) * (place - static_cast<double>(below));
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> va(a.begin(), a.end()), vb(b.begin(), b.end());
  const double mean_a = mean_of(va), mean_b = mean_of(vb);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  // Means of equal values differ by roundings.
  const auto varies = [&](double squares, double mean) {
    return squares > 1e-24 * mean * mean * static_cast<double>(a.size());
  };
  if (!varies(aa, mean_a) || !varies(bb, mean_b)) return std::numeric_limits<double>::quiet_NaN();
  return ab / std::sqrt(aa * bb);
}

bool all_at_least(const std::vector<double>& values, double bound) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](double v) { return v >= bound; });
}
bool all_at_most(const std::vector<double>& values, double bound) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](double v) { return v <= bound; });
}
double greatest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void remember(Window& window, double value) {
  window.push_back(value);
  if (window.size() > count_limit("buffer")) window.pop_front();
}

std::vector<double> growth(const Window& values) {
  const std::size_t window = count_limit("window");
  std::vector<double> ratios;
  if (values.size() < window) return ratios;
  for (std::size_t i = values.size() - window + 1; i < values.size(); ++i) {
    ratios.push_back(values[i] / values[i - 1]);
  }
  return ratios;
}

}  // namespace neutra::fl_adapters::thedeepchecker
