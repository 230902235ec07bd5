#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/benchmark.h"
#include "training/local_trainer.h"

namespace neutra {

/// Writes one version of an entry into a folder that is empty or not there yet: program.json,
/// checkout.json (seeds, environment, test, data), the included data files, README.md, and in
/// keras/ a script with its arrays (docs/formats/benchmark.md). `data_path`: where files that the
/// benchmark doesn't include are looked up. Returns what is left out of keras/ and why; "" where
/// nothing is. Throws input_error for a folder that has something in it.
std::string check_out(const Benchmark& benchmark, const BenchmarkEntry& entry, EntryVersion version,
                      const std::filesystem::path& folder,
                      std::vector<std::filesystem::path> data_path);

/// Writes the included data files, of all subjects or of one, under their names.
void write_data(const Benchmark& benchmark, const BenchmarkSubject* subject,
                const std::filesystem::path& folder);

}  // namespace neutra
