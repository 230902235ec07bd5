#pragma once

#include <span>

#include "evaluators/statistics.h"

namespace neutra::evaluators {

/// Bootstrap interval of the mean with bias correction and acceleration (BCa; Efron, Better
/// bootstrap confidence intervals, 1987). The draws follow from their numbers, so that the same
/// values in the same order give the same interval. `level` in (0, 1). Of equal values or fewer
/// than two it is their mean; NaNs where there is no value or a NaN.
Interval bootstrap_mean(std::span<const double> values, double level = 0.95, int draws = 10000);

}  // namespace neutra::evaluators
