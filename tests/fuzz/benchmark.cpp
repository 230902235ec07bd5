// Any bytes as one of the documents of a benchmark, with a digest that is right: mistakes are said,
// and what is sound is written as it was read.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "experiments/benchmark/benchmark.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/relations.h"
#include "program/patch.h"

namespace {

using namespace neutra;

constexpr std::string_view kProgram = R"({
  "format": "neutra-program", "version": 1, "name": "line", "task": "regression",
  "model": {"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 1, "batch_input_shape": [null, 1]}}]}},
  "compile": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1}},
              "loss": "mean_squared_error", "metrics": ["mae"]},
  "fit": {"batch_size": 8, "epochs": 5},
  "data": {"source": "generator", "arguments": {"name": "linear"},
           "split": {"test_size": 0.2, "seed": 1}},
  "metric": {"name": "mae", "goal": "minimize"}})";

experiments::BenchmarkFiles base() {
  experiments::Benchmark benchmark;
  benchmark.name = "base";
  benchmark.environment = Json::object();
  experiments::BenchmarkSubject subject;
  subject.id = "line";
  subject.title = subject.source = subject.licence = subject.trainer = "-";
  subject.program.document = parse_json(kProgram, "base");
  subject.rows = {{1}, {1}, 80, false, 0, 5};
  subject.data = std::string(32, '0');
  subject.metric = "mae";
  subject.goal = program::Goal::kMinimize;
  subject.metrics = {0.1, 0.11, 0.12};
  experiments::BenchmarkEntry entry;
  entry.id = 1;
  entry.applications = {mutators::parse_application("HNE=1", 0)};
  const mutators::Mutant mutant =
      mutators::apply_all(subject.program, entry.applications, &subject.rows);
  entry.name = mutant.name();
  entry.subject = subject.id;
  entry.place = "program";
  entry.faults = mutant.faults;
  entry.change = program::json_patch(subject.program.document, mutant.program.document);
  entry.buggy = program::program_hash(mutant.program);
  entry.fixed = program::program_hash(subject.program);
  entry.metrics = {0.5, 0.51, 0.52};
  entry.verdict = evaluators::kill_test(subject.metrics, entry.metrics, {false});
  benchmark.subjects.push_back(subject);
  benchmark.entries.push_back(entry);
  experiments::count_support(benchmark.entries);
  return experiments::to_files(benchmark);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const experiments::BenchmarkFiles kBase = base();
  static const char* const kNames[] = {"benchmark.json", "entries/0001.json", "subjects/line.json"};
  if (size == 0) return 0;
  const std::string name = kNames[data[0] % 3];
  experiments::BenchmarkFiles files = kBase;
  files[name].assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (std::string& index = files["benchmark.json"]; name != "benchmark.json") {
    Json json = parse_json(index, "index");
    for (Json& file : json["files"]) {
      const std::string& text = files[file["name"].get<std::string>()];
      file["bytes"] = text.size();
      file["digest"] = digest(text);
    }
    index = to_text(json);
  }
  std::vector<std::string> problems;
  const experiments::Benchmark benchmark =
      experiments::benchmark_from_files(files, "input", &problems);
  if (!problems.empty()) return 0;
  experiments::check_benchmark(benchmark);
  const experiments::BenchmarkFiles written = experiments::to_files(benchmark);
  if (experiments::to_files(experiments::benchmark_from_files(written, "own output")) != written)
    std::abort();
  return 0;
}
