#pragma once

#include <filesystem>
#include <optional>

#include "experiments/benchmark/documents.h"

namespace neutra::experiments {

// A benchmark is stored as a folder with its documents, or as one HDF5 file, whose name ends in .h5
// or .hdf5. Any changed byte is found before anything is believed (docs/formats/benchmark.md).

/// `path` without a separator at its end: "small/" is the folder "small".
std::filesystem::path benchmark_path(const std::filesystem::path& path);

/// Reads the documents of a benchmark. Throws input_error for what is no benchmark, is damaged or
/// of a newer version.
BenchmarkFiles read_benchmark_files(const std::filesystem::path& path);

/// Writes a benchmark in one step: what was there stays until all is written. Throws input_error
/// where something that is no benchmark would be overwritten, failure() where the disk is full.
void write_benchmark_files(const BenchmarkFiles& files, const std::filesystem::path& path);

/// Is there a benchmark, sound or damaged? Throws input_error for something else of that name.
bool is_benchmark(const std::filesystem::path& path);

/// The folder of a benchmark that a path lies in, into which nothing else may be put; nullopt: it
/// lies in none.
std::optional<std::filesystem::path> benchmark_around(const std::filesystem::path& path);

/// Is something there that its name, or the names in it, say to be a benchmark, whatever its bytes?
bool has_benchmark_name(const std::filesystem::path& path);

/// Reads a benchmark, and what its documents say. Throws input_error as read_benchmark_files() and
/// benchmark_from_files() do.
Benchmark load_benchmark(const std::filesystem::path& path);

}  // namespace neutra::experiments
