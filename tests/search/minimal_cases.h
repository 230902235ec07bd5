#pragma once

#include <cstdint>

#include "tests/search/fakes.h"

/// What tests of minimal repairs share.
namespace neutra::search::tests {

/// A search that goes on until each repair is known to be minimal or not.
inline RunOptions minimising(int workers = 1) {
  RunOptions options;
  options.workers = workers;
  options.minimise = true;
  return options;
}

/// Random searches whose repairs take several changes, and pile up changes that are not needed.
/// Every third takes its level from the known fix.
inline Case level_case(std::uint64_t seed) {
  Case c = random_case(seed);
  c.space = FakeSpace(7, 3);
  c.task.start = c.space.start();
  program::Parameters fixed = c.task.start;
  fixed["c"] = fixed["d"] = "1";
  c.task.fixed = c.space.program(fixed);
  c.task.fixed_parameters = fixed;
  c.config.top_k = 2 + static_cast<int>(seed % 2);
  c.config.max_depth.reset();
  c.config.budget_evaluations = 100 + 40 * static_cast<std::int64_t>(seed % 5);
  c.landscape.additive = true;
  const double harder = static_cast<double>(seed % 3);
  c.config.ground_truth_metric = c.landscape.counts ? 0.55 + 0.05 * harder : 0.8 - 0.1 * harder;
  if (seed % 4 == 1) {
    c.config.improve = true;
    c.config.replicas = 5;
    c.landscape.refused = c.landscape.not_a_number = 0;
    if (seed % 8 == 1) c.config.ground_truth_metric.reset();
  } else if (seed % 3 == 0) {
    c.landscape.refused = c.landscape.not_a_number = 0;
    c.config.ground_truth_metric.reset();
  }
  return c;
}

}  // namespace neutra::search::tests
