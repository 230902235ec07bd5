#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>

#include "base/cores.h"
#include "base/error.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "cli/bench/actions.h"
#include "cli/build_info.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/warnings.h"
#include "experiments/benchmark/build.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/store.h"
#include "search/store_header.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// What the scripts of checked out programs run with.
constexpr const char* kTensorFlow = ">=2.4,<2.16";

/// Is --extend the benchmark that --output names?
bool extends_itself(const Arguments& arguments, const fs::path& output) {
  std::error_code error;
  return arguments.has("extend") && fs::equivalent(arguments.text("extend"), output, error);
}

/// The folder of kept runs; goes with the object if nothing is in it.
class RunsFolder {
 public:
  explicit RunsFolder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  RunsFolder(const RunsFolder&) = delete;
  RunsFolder& operator=(const RunsFolder&) = delete;
  ~RunsFolder() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
};

/// "small: 8 subjects, about 3 min 20 s with 2 workers, less where runs were kept"
std::string expected_text(const experiments::BenchmarkPlan& plan, int workers) {
  std::string text = plan.name + ": " + std::to_string(plan.subjects.size()) +
                     (plan.subjects.size() == 1 ? " subject, " : " subjects, ");
  if (plan.core_seconds <= 0)
    return text + "how long they take is not known (core_seconds of the plan)";
  const int at_once = std::min(workers, usable_cores());
  return text + "about " + duration_text(plan.core_seconds / at_once) + " with " +
         std::to_string(workers) + (workers == 1 ? " worker" : " workers") +
         ", less where runs were kept";
}

/// A benchmark that was made.
struct Created {
  std::string output;
  experiments::Benchmark benchmark;
};

/// How many there are, deprecated ones left out.
struct Counts {
  std::size_t active = 0, deprecated = 0, subjects = 0, operators = 0;
};

Counts counts_of(const experiments::Benchmark& benchmark) {
  std::set<std::string> subjects, operators;
  Counts counts;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    ++(entry.deprecated ? counts.deprecated : counts.active);
    if (entry.deprecated) continue;
    subjects.insert(entry.subject);
    for (const mutators::Application& application : entry.applications)
      operators.insert(application.op);
  }
  counts.subjects = subjects.size();
  counts.operators = operators.size();
  return counts;
}

Json json_of(const Created& created) {
  const Counts counts = counts_of(created.benchmark);
  return {{"benchmark", created.output},
          {"name", created.benchmark.name},
          {"entries", counts.active},
          {"deprecated", counts.deprecated},
          {"subjects", counts.subjects},
          {"operators", counts.operators},
          {"without", kinds_without(created.benchmark)}};
}

std::string text_of(const Created& created) {
  const Counts counts = counts_of(created.benchmark);
  return created.output + ": " + std::to_string(counts.active) + " entries of " +
         std::to_string(counts.operators) + " operators on " + std::to_string(counts.subjects) +
         " subjects, " + std::to_string(counts.deprecated) + " deprecated\n";
}

/// Where the benchmark goes. Throws usage_error and input_error where it can't.
fs::path output_path(const Arguments& arguments) {
  if (!arguments.has("output"))
    throw usage_error("found no --output; allowed: -o FILE.h5 or -o FOLDER");
  const fs::path output = experiments::benchmark_path(arguments.text("output"));
  require_writable_folder(output.has_parent_path() ? output.parent_path() : ".", "--output");
  if (experiments::is_benchmark(output) && !arguments.flag("fresh") &&
      !extends_itself(arguments, output))
    throw input_error(describe("--output", "", output.string() + ", a benchmark",
                               "a name that is still free; --extend " + output.string() +
                                   " to go on from it; --fresh to begin anew"));
  // A folder is replaced as a whole: nothing else may be in it.
  if (fs::is_directory(output) && experiments::is_benchmark(output))
    experiments::load_benchmark(output);
  return output;
}

/// How the subjects are trained, and where their runs are kept.
experiments::BenchmarkBuild build_of(const experiments::BenchmarkPlan& plan, const fs::path& output,
                                     const Arguments& arguments) {
  experiments::BenchmarkBuild build;
  build.trainer = [&](const fs::path& file) { return make_trainer(arguments, file); };
  build.data_path = [&](const fs::path& file) { return data_path(arguments, file); };
  const bool kept = arguments.has("store");
  build.runs = kept ? fs::path(arguments.text("store")) : fs::path(output.string() + ".runs");
  require_writable_folder(build.runs, kept ? "--store" : "--output");
  build.command = "neutra bench create " + plan.name;
  build.fresh = arguments.flag("fresh");
  build.environment = {{"neutra", version()}, {"tensorflow", kTensorFlow}};
  build.workers = worker_count(arguments);
  build.stop = &stop_requested();
  return build;
}

/// Writes a benchmark after a last check. Throws failure() where it is not sound.
void write_benchmark(const experiments::Benchmark& benchmark, const fs::path& output) {
  const experiments::BenchmarkFiles files = experiments::to_files(benchmark);
  if (const auto problems =
          experiments::check_benchmark(experiments::benchmark_from_files(files, output.string()));
      !problems.empty())
    throw failure("the benchmark is not sound: " + problems.front());
  experiments::write_benchmark_files(files, output);
}

}  // namespace

Result bench_create(const Arguments& arguments) {
  const fs::path output = output_path(arguments);
  const experiments::BenchmarkPlan plan = experiments::load_benchmark_plan(arguments.positional[1]);
  std::optional<experiments::Benchmark> earlier;
  if (arguments.has("extend")) earlier = experiments::load_benchmark(arguments.text("extend"));

  catch_signals();
  for (const experiments::PlannedSubject& planned : plan.subjects)
    warn_of(planned.subject.id, planned.subject.space.base());
  experiments::BenchmarkBuild build = build_of(plan, output, arguments);
  // Each subject's runs have a lock of their own, but --fresh of another would drop them in
  // between.
  const FileLock lock(build.runs.string() + ".lock", build.command, search::kStoreInUse);
  const RunsFolder folder(build.runs);
  std::optional<ProgressLine> line;
  const bool quiet = arguments.flag("quiet");
  if (!quiet) std::cerr << expected_text(plan, build.workers) << '\n';
  build.stage = [&](const std::string& text) {
    line.reset();
    if (!quiet) std::cerr << text << '\n';
    line.emplace(quiet, text);
  };
  build.progress = [&](const Tally& tally) {
    if (line) line->update(progress_of(tally, "trainings", true));
  };
  Created created{output.string(),
                  experiments::build_benchmark(plan, earlier ? &*earlier : nullptr, build)};
  line.reset();
  add_networks(created.benchmark, arguments);
  write_benchmark(created.benchmark, output);
  if (!arguments.has("store")) {
    // The folder may be older, and hold what is not from here.
    std::error_code ignored;
    for (const experiments::PlannedSubject& subject : plan.subjects)
      fs::remove(build.runs / experiments::runs_file(subject.subject.id), ignored);
  }
  return result_of(std::move(created));
}

}  // namespace neutra::cli
