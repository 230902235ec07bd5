#pragma once

namespace neutra::evaluators {

/// The range of `groups` independent standard normal values (the studentized range with infinitely
/// many degrees of freedom): the probability that it is more than `q`. `groups` is at least 2.
/// Correct to about 1e-14.
double studentized_range_tail(double q, int groups);

/// The q with studentized_range_tail(q, groups) = `tail`, which is in (0, 1).
double studentized_range_quantile(double tail, int groups);

}  // namespace neutra::evaluators
