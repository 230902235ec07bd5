#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/benchmark/benchmark.h"

namespace neutra::experiments {

/// The value of BenchmarkEntry::place for mutations of a correct program: the classes of the layers
/// that they change. `data`: what operators know of the data; null: nothing. Throws input_error
/// for a layer that the program lacks.
std::string place_of(const program::Program& program,
                     const std::vector<mutators::Application>& applications,
                     const program::DataInfo* data);

/// Sets every entry's support level: the number of active entries of the same operators whose fix
/// changes the same places, whatever the layer; 0 for a deprecated entry.
void count_support(std::vector<BenchmarkEntry>& entries);

/// The active entries that are like one, each with its points, the most similar first, equal ones
/// by id. Points: 4 for an operator in common, 3 for a fault type in common, 2 for the same kind of
/// place, 1 for the same subject; the last two count only beside one of the first two.
std::vector<std::pair<const BenchmarkEntry*, int>> similar_entries(const Benchmark& benchmark,
                                                                   const BenchmarkEntry& entry);

}  // namespace neutra::experiments
