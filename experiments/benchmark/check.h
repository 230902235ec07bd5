#pragma once

#include <string>
#include <vector>

#include "experiments/benchmark/benchmark.h"

namespace neutra::experiments {

/// The mistakes in a benchmark that can be found without training, a message each; empty: it is
/// sound. Checked are programs, metrics, changes, operators, hashes, verdicts, symptoms, support
/// levels, and the rows where all data files are included.
std::vector<std::string> check_benchmark(const Benchmark& benchmark);

}  // namespace neutra::experiments
