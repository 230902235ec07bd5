#include <filesystem>

#include "base/error.h"
#include "base/words.h"
#include "cli/bench/actions.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/store.h"

namespace neutra::cli {
namespace {

struct Validated {
  std::string file;
  std::size_t entries = 0;
  std::vector<std::string> problems;
};

Json json_of(const Validated& validated) {
  return {{"benchmark", validated.file},
          {"sound", validated.problems.empty()},
          {"entries", validated.entries},
          {"problems", validated.problems}};
}

std::string text_of(const Validated& validated) {
  if (validated.problems.empty())
    return validated.file + ": sound, " + std::to_string(validated.entries) + " entries\n";
  return join(validated.problems, "\n") + "\n";
}

}  // namespace

Result bench_validate(const Arguments& arguments) {
  const std::filesystem::path file = arguments.positional[1];
  Validated validated{file.string(), 0, {}};
  try {
    const experiments::Benchmark benchmark = experiments::benchmark_from_files(
        experiments::read_benchmark_files(file), file.string(), &validated.problems);
    validated.entries = benchmark.entries.size();
    if (validated.problems.empty()) validated.problems = experiments::check_benchmark(benchmark);
  } catch (const Error& error) {
    if (!experiments::has_benchmark_name(file)) throw;  // there is none
    validated.problems.emplace_back(error.what());
  }
  const Exit exit = validated.problems.empty() ? Exit::kDone : Exit::kFailed;
  return result_of(std::move(validated), exit);
}

}  // namespace neutra::cli
