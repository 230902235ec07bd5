#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/benchmark/benchmark.h"
#include "training/data/dataset.h"

namespace neutra::experiments {

/// Writes one version of an entry into a folder that is empty or not there yet: program.json,
/// checkout.json (seeds, environment, test, data), the included data files, README.md, and in
/// keras/ a script with its arrays (docs/formats/benchmark.md). `data_path`: where files that the
/// benchmark doesn't include are looked up. All is written, or nothing. Returns what is left out of
/// keras/ and why; "" where nothing is. Throws input_error for a folder that has something in it,
/// and for data that are not the benchmark's.
std::string check_out(const Benchmark& benchmark, const BenchmarkEntry& entry, EntryVersion version,
                      const std::filesystem::path& folder,
                      std::vector<std::filesystem::path> data_path);

/// Throws input_error unless the rows of the correct program are those that the benchmark was made
/// with.
void require_same_data(const BenchmarkSubject& subject, const training::Dataset& data);

/// Writes the included data files, of all subjects or of one, under their names.
void write_data(const Benchmark& benchmark, const BenchmarkSubject* subject,
                const std::filesystem::path& folder);

}  // namespace neutra::experiments
