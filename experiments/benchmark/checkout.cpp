#include "experiments/benchmark/checkout.h"

#include "base/checked_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_section.h"
#include "base/numbers.h"
#include "base/temporary_folder.h"
#include "evaluators/statistics.h"
#include "fl_adapters/tool_folder.h"
#include "program/formats/keras_script.h"
#include "search/options.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

/// It tells nothing of the fault.
std::string version_id(const Benchmark& benchmark, const BenchmarkEntry& entry,
                       EntryVersion version) {
  return fault_id(benchmark, entry) + (version == EntryVersion::kBuggy ? "b" : "f");
}

Json checkout_document(const Benchmark& benchmark, const BenchmarkEntry& entry,
                       EntryVersion version) {
  const BenchmarkSubject& subject = subject_of(benchmark, entry);
  const bool buggy = version == EntryVersion::kBuggy;
  const std::vector<double>& metrics = buggy ? entry.metrics : subject.metrics;
  Json files = Json::array();
  for (const BenchmarkData& file : subject.files) {
    files.push_back({{"name", file.name},
                     {"bytes", file.bytes},
                     {"digest", file.digest},
                     {"here", file.included}});
  }
  return {{"format", "neutra-checkout"},
          {"version", 1},
          {"benchmark", benchmark.name},
          {"entry", entry.id},
          {"program_version", buggy ? "buggy" : "fixed"},
          {"hash", to_string(buggy ? entry.buggy : entry.fixed)},
          {"subject", subject.id},
          {"source", subject.source},
          {"licence", subject.licence},
          {"seed", benchmark.seed},
          {"stream", "independent"},
          {"metric", subject.metric},
          {"goal", program::to_string(subject.goal)},
          {"metrics", exact_numbers(metrics)},
          {"fixed_mean", exact_number(evaluators::mean(subject.metrics))},
          {"test",
           {{"runs", subject.metrics.size()},
            {"thresholds", {{"p", evaluators::kKillLevel}, {"d", evaluators::kKillEffect}}},
            {"fails", buggy}}},
          {"data", {{"rows", subject.data}, {"files", std::move(files)}}},
          {"environment", benchmark.environment},
          {"trainer", subject.trainer}};
}

std::string readme(const Benchmark& benchmark, const BenchmarkEntry& entry, EntryVersion version,
                   bool script, bool arrays) {
  const BenchmarkSubject& subject = subject_of(benchmark, entry);
  const bool buggy = version == EntryVersion::kBuggy;
  const std::vector<double>& metrics = buggy ? entry.metrics : subject.metrics;
  std::string absent;
  for (const BenchmarkData& file : subject.files) {
    if (!file.included) absent += "- " + file.name + ", XXH3-128 " + file.digest + "\n";
  }
  std::string text =
      "# " + version_id(benchmark, entry, version) + "\n\nThe " + (buggy ? "faulty" : "correct") +
      " version of entry " + std::to_string(entry.id) + " of the benchmark " + benchmark.name +
      ". Subject " + subject.id + ": " + subject.title + ".\n\n- Source: " + subject.source +
      "\n- Licence: " + subject.licence + "\n\n";
  if (!absent.empty()) {
    text +=
        "Data files that are not in this folder; put them here under these names, or in the "
        "folder that\n`--data-dir` names:\n\n" +
        absent + "\n";
  }
  const std::size_t diverged = evaluators::count_not_finite(metrics);
  text += "Train it with the random numbers of the benchmark (" +
          (diverged > 0 ? evaluators::diverged_text(diverged, metrics.size())
                        : "mean " + subject.metric + " " +
                              shortest(python_round(evaluators::mean(metrics), 4))) +
          "):\n\n    neutra train program.json --stream independent --seed " +
          std::to_string(benchmark.seed) + " --replicas " + std::to_string(metrics.size()) +
          "\n\nSearch for repairs as good as the correct version, ask fault-localisation tools, "
          "make mutants:\n\n    neutra search program.json --ground-truth-metric " +
          shortest(evaluators::mean(subject.metrics)) +
          "\n    neutra localise program.json\n    neutra mutate program.json --all\n\n";
  // The reason could name the fault.
  if (!script) {
    return text + "There is no Keras script: Keras's own loop can't do what this program does.\n";
  }
  text += "With Keras (TensorFlow " + benchmark.environment.value("tensorflow", "2.4") +
          "), from the folder `keras`; its last line is the metric, and another\nseed may be "
          "given:\n\n    python train.py 1\n";
  if (!arrays) {
    text +=
        "\nIts arrays are left out, since the data are not here: x_train.npy, y_train.npy, "
        "x_test.npy, y_test.npy.\n";
  }
  return text;
}

/// The rows of a program; null where its data are not here.
std::shared_ptr<const training::Dataset> rows_of(const program::Program& program,
                                                 const std::vector<fs::path>& data_path) {
  try {
    return training::load_dataset(program.document.at("data"), data_path);
  } catch (const MissingData&) {
    return nullptr;
  }
}

/// Writes the script and, where there are rows, their arrays; x_test.npy and y_test.npy are those
/// that give the metric.
void write_keras(const Benchmark& benchmark, const program::Program& program,
                 const program::Shape& input, const training::Dataset* data,
                 const fs::path& folder) {
  program::KerasScriptOptions options{
      input, false, static_cast<std::uint32_t>(benchmark.seed % 0x7fffffff), true};
  if (data != nullptr) {
    options.input = data->info().x;
    options.validation = !data->x_validation.values.empty();
    options.validation_weights = !data->weights_validation.values.empty();
  }
  const std::string script = program::keras_script(program, options);
  fs::create_directories(folder);
  if (data != nullptr) fl_adapters::write_measured_arrays(*data, folder);
  write_file_atomically(folder / "train.py", script);
  write_file_atomically(folder / "requirements.txt",
                        "tensorflow" + benchmark.environment.value("tensorflow", "") + "\nnumpy\n");
}

}  // namespace

void write_data(const Benchmark& benchmark, const BenchmarkSubject* subject,
                const fs::path& folder) {
  for (const BenchmarkSubject& one : benchmark.subjects) {
    if (subject != nullptr && one.id != subject->id) continue;
    for (const BenchmarkData& file : one.files) {
      if (!file.included) continue;
      const fs::path path = folder / file.name;
      fs::create_directories(path.parent_path());
      write_file_atomically(path, benchmark.data.at(file.name));
    }
  }
}

void require_same_data(const BenchmarkSubject& subject, const training::Dataset& data) {
  const std::string found = to_string(digest(data));
  if (found != subject.data) {
    throw input_error(describe("", "data of " + subject.id, "digest " + found,
                               subject.data + ": the rows that the benchmark was made with"));
  }
}

std::string check_out(const Benchmark& benchmark, const BenchmarkEntry& entry, EntryVersion version,
                      const fs::path& given, std::vector<fs::path> data_path) {
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  fl_adapters::require_empty(folder);
  const BenchmarkSubject& subject = subject_of(benchmark, entry);
  program::Program program = program_of(benchmark, entry, version);
  program.document["name"] = version_id(benchmark, entry, version);
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : ".";
  fs::create_directories(parent);
  TemporaryFolder fresh(parent, ".checkout");
  std::string refusal;
  bool has_data = false;
  fresh.become(folder, [&] {
    write_data(benchmark, &subject, fresh.path());
    write_file_atomically(fresh.path() / "program.json", to_text(program.document));
    write_file_atomically(fresh.path() / "checkout.json",
                          to_text(with_digest(checkout_document(benchmark, entry, version))));
    data_path.insert(data_path.begin(), fresh.path());
    const auto unmutated = rows_of(subject.program, data_path);
    if (unmutated) require_same_data(subject, *unmutated);
    const auto data = unmutated ? rows_of(program, data_path) : nullptr;
    has_data = data != nullptr;
    try {
      write_keras(benchmark, program, subject.rows.x, data.get(), fresh.path() / "keras");
    } catch (const Error& error) {
      if (error.exit() != Exit::kBadInput) throw;
      refusal = error.what();
    }
    write_file_atomically(fresh.path() / "README.md",
                          readme(benchmark, entry, version, refusal.empty(), has_data));
  });
  if (!refusal.empty()) return "no Keras script: " + refusal;
  return has_data ? "" : "no arrays for the Keras script: the data are not here";
}

}  // namespace neutra::experiments
