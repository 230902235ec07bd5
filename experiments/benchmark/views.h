#pragma once

#include <string>
#include <vector>

#include "base/numbers.h"
#include "experiments/benchmark/benchmark.h"

namespace neutra::experiments {

/// An entry with everything that is known of it, its subject's licence, source and test included.
Json full_view(const Benchmark& benchmark, const BenchmarkEntry& entry);

/// A field of the full view as one text.
struct EntryField {
  std::string name;   ///< "fixed_mean"
  std::string value;  ///< "" where there is none
};
/// The columns of docs/formats/benchmark.md, in their order. `number`: how numbers are written.
std::vector<EntryField> entry_fields(const Benchmark& benchmark, const BenchmarkEntry& entry,
                                     std::string (*number)(double) = shortest);

/// A CSV table: a line for each entry, with the columns of entry_fields().
std::string to_csv(const Benchmark& benchmark, const std::vector<const BenchmarkEntry*>& entries);

}  // namespace neutra::experiments
