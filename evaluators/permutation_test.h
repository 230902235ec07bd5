#pragma once

#include <span>

namespace neutra::evaluators {

/// Two-sided permutation test on the difference of means. Exact when the number of splits is at
/// most `limit` (ten against ten: 184,756), else `limit` random splits from a fixed seed and (hits
/// + 1) / (limit + 1). Differences are equal when they agree to equality_tolerance(). A NaN counts
/// as +infinity: larger than all numbers, tied with other NaNs, so groups are first compared by
/// their shares of NaNs, then by the means of what is left. 1 for an empty sample.
double permutation_p(std::span<const double> a, std::span<const double> b, long limit = 200000);

}  // namespace neutra::evaluators
