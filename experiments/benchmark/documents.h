#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/benchmark/benchmark.h"

namespace neutra::experiments {

/// A benchmark as documents, by name: "benchmark.json" (the index, which lists the others with
/// their digests), "subjects/ID.json", "entries/NNNN.json", "data/FILE"
/// (docs/formats/benchmark.md).
using BenchmarkFiles = std::map<std::string, std::string>;
/// The name of the index.
inline constexpr std::string_view kBenchmarkIndex = "benchmark.json";

/// The documents of a benchmark; the same benchmark gives the same bytes.
BenchmarkFiles to_files(const Benchmark& benchmark);
/// The benchmark that documents hold; `where` names them in messages. Throws input_error for the
/// first mistake; where `problems` is given, adds all mistakes to it instead and leaves out what
/// can't be read.
Benchmark benchmark_from_files(const BenchmarkFiles& files, const std::string& where,
                               std::vector<std::string>* problems = nullptr);

/// An entry as its document has it.
Json to_json(const BenchmarkEntry& entry);
/// Facts on a subject's rows, as its document has them.
Json to_json(const program::DataInfo& rows);

/// May a file of a benchmark have this name? It is relative, without "..".
bool is_file_name(std::string_view name);
/// May a benchmark or a subject have this name, which becomes a part of names of files?
bool is_part_of_names(std::string_view name);
/// What is_part_of_names() allows, in words for messages.
inline constexpr const char* kPartOfNames =
    "1 to 60 letters, digits, '_', '-' and '.', no '.' first";

}  // namespace neutra::experiments
