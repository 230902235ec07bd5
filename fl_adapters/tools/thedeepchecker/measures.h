#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

/// What the checks measure.
namespace neutra::fl_adapters::thedeepchecker {

/// 1 - share of values where the curve turns.
double smoothness(std::span<const double> curve);
/// Rakitianskaia and Engelbrecht's measure of saturation over the range 0 to 1: 0 for values in its
/// middle, 1 for values at its ends.
double saturation(std::vector<float> values);
/// Centred kernel alignment (linear, debiased) of two sets of features of the same rows (Kornblith
/// et al., 2019); NaN where one doesn't vary.
double similarity(std::span<const float> a, std::span<const float> b, std::size_t rows);
/// NumPy's, with linear interpolation.
double percentile(std::vector<float> values, double percent);
/// Pearson's; NaN where one doesn't vary.
double correlation(std::span<const double> a, std::span<const double> b);

/// The mean, summed in order.
double mean_of(const std::vector<double>& values);
/// Are all at least, or at most, `bound`? No for none.
bool all_at_least(const std::vector<double>& values, double bound);
bool all_at_most(const std::vector<double>& values, double bound);
/// Precondition: there is one.
double greatest(const std::vector<double>& values);

/// Means of magnitudes, the latest last.
using Window = std::deque<double>;
/// Adds a value; the oldest goes where there are more than the threshold "buffer".
void remember(Window& window, double value);
/// Ratios of successive values among the last ones, as many as the threshold "window" says; empty
/// while there are fewer.
std::vector<double> growth(const Window& values);

}  // namespace neutra::fl_adapters::thedeepchecker
