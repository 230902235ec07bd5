#include "evaluators/training_log.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/csv_table.h"
#include "base/event_file.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/printable.h"

namespace neutra::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<LogFormat, std::string_view>, 3> kFormats{
    {{LogFormat::kCsv, "csv"},
     {LogFormat::kTensorBoard, "tensorboard"},
     {LogFormat::kMlflow, "mlflow"}}};

/// `allowed` besides letters and digits of ASCII.
bool is_plain(char c, std::string_view allowed) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         allowed.find(c) != std::string_view::npos;
}

/// A name of a file: what isn't allowed in it becomes '_'.
std::string file_name(std::string text) {
  constexpr std::size_t kMost = 200;  // file systems take 255
  for (char& c : text) {
    if (!is_plain(c, "._-")) c = '_';
  }
  if (text.empty() || text.front() == '.') text = "_" + text;
  return text.substr(0, kMost);
}

/// What makes a training what it is, but the replica.
std::string identity(const LoggedTraining& training) {
  return training.hash + " " + std::to_string(training.seed) + " " + training.stream;
}

std::string replica_name(const LoggedTraining& training) {
  return "replica-" + std::to_string(training.replica);
}

std::string holdout_name(const LoggedTraining& training) { return "holdout_" + training.metric; }

/// What is known of a training besides its numbers.
std::vector<std::pair<std::string, std::string>> facts(const LoggedTraining& training) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"program", training.program},
      {"version", training.variant},
      {"hash", training.hash},
      {"seed", std::to_string(training.seed)},
      {"replica", std::to_string(training.replica)},
      {"stream", training.stream},
      {"backend", training.backend},
      {"status", training.status}};
  if (!training.message.empty()) facts.emplace_back("message", training.message);
  for (const char* name : {"program_version", "git_commit", "machine"}) {
    const Json* value = member(training.provenance, name);
    if (value != nullptr && value->is_string()) facts.emplace_back(name, value->get<std::string>());
  }
  return facts;
}

double end_of(const TrainingCurves& curves) {
  return curves.ends.empty() ? curves.begin : curves.ends.back();
}

std::string csv(const LoggedTraining& training) {
  const auto& series = training.curves.series;
  std::vector<std::string> cells{"replica", "epoch"};
  for (const auto& entry : series) cells.push_back(entry.first);
  std::string text = csv_line(cells);
  for (std::size_t e = 0; e < training.curves.ends.size(); ++e) {
    cells = {std::to_string(training.replica), std::to_string(e + 1)};
    for (const auto& entry : series) cells.push_back(shortest(entry.second[e]));
    text += csv_line(cells);
  }
  return text;
}

/// A row of a table in Markdown.
std::string markdown_row(const std::string& name, const std::string& value) {
  std::string row = "|";
  for (const std::string& cell : {name, value}) {
    for (const char c : " " + printable(cell) + " ") {
      if (c == '|') row += '\\';
      row += c;
    }
    row += '|';
  }
  return row + "\n";
}

std::string event_file(const LoggedTraining& training) {
  const TrainingCurves& curves = training.curves;
  EventFile file(curves.begin);
  std::string table = "| | |\n|---|---|\n";
  for (const auto& [name, value] : facts(training)) table += markdown_row(name, value);
  file.add_text(curves.begin, 0, "training", table);
  if (!training.parameters.empty()) {
    table = "| hyperparameter | value |\n|---|---|\n";
    for (const auto& [name, value] : training.parameters) table += markdown_row(name, value);
    file.add_text(curves.begin, 0, "hyperparameters", table);
  }
  for (std::size_t e = 0; e < curves.ends.size(); ++e) {
    std::map<std::string, double> values;
    for (const auto& [name, of_epochs] : curves.series) values[name] = of_epochs[e];
    file.add_scalars(curves.ends[e], static_cast<std::int64_t>(e + 1), values);
  }
  file.add_scalars(end_of(curves), static_cast<std::int64_t>(curves.ends.size()),
                   {{holdout_name(training), training.value}});
  return file.bytes();
}

std::string milliseconds(double seconds) {
  return std::to_string(static_cast<std::int64_t>(seconds * 1000));
}

/// A text in YAML: JSON's texts are some.
std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string file_uri(const fs::path& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path.string()) {
    if (is_plain(c, "/._-~")) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

/// MLflow makes numbers of 18 digits itself; the same name has the same.
std::string experiment_id(const std::string& name) {
  const std::uint64_t number = std::strtoull(digest(name).substr(0, 16).c_str(), nullptr, 16);
  constexpr std::uint64_t kLeast = 100'000'000'000'000'000;
  return std::to_string(kLeast + number % (9 * kLeast));
}

/// A run in the folders of MLflow's file store (mlflow/store/tracking/file_store.py).
std::vector<LogFile> mlflow_run(const LoggedTraining& training, const fs::path& folder) {
  const TrainingCurves& curves = training.curves;
  const std::string experiment = "neutra " + printable(training.program);
  const std::string id = experiment_id(experiment);
  const std::string run = digest(identity(training) + " " + std::to_string(training.replica));
  const fs::path place = fs::path("mlruns") / id;
  const std::string begin = milliseconds(curves.begin), end = milliseconds(end_of(curves));
  const std::string name = training.variant + " " + replica_name(training);
  const bool finished = training.status == "ok" || training.status == "diverged";

  std::vector<LogFile> files;
  files.push_back({place / "meta.yaml",
                   "artifact_location: " + quoted(file_uri(folder / place)) + "\ncreation_time: " +
                       begin + "\nexperiment_id: '" + id + "'\nlast_update_time: " + begin +
                       "\nlifecycle_stage: active\nname: " + quoted(experiment) + "\n"});
  const fs::path own = place / run;
  const auto metric = [&](const std::string& metric_name, std::string lines) {
    files.push_back({own / "metrics" / file_name(metric_name), std::move(lines)});
  };
  for (const auto& [series, values] : curves.series) {
    std::string lines;
    for (std::size_t e = 0; e < values.size(); ++e) {
      lines += milliseconds(curves.ends[e]) + " " + shortest(values[e]) + " " +
               std::to_string(e + 1) + "\n";
    }
    metric(series, std::move(lines));
  }
  metric(holdout_name(training),
         end + " " + shortest(training.value) + " " + std::to_string(curves.ends.size()) + "\n");
  std::map<std::string, std::string> parameters = training.parameters;
  parameters.emplace("seed", std::to_string(training.seed));  // none is no run
  for (const auto& [key, value] : parameters) {
    files.push_back({own / "params" / file_name(key), printable(value)});
  }
  for (const auto& [key, value] : facts(training)) {
    files.push_back({own / "tags" / ("neutra." + key), printable(value)});
  }
  files.push_back({own / "tags" / "mlflow.runName", name});
  files.push_back({own / "tags" / "mlflow.source.name", "neutra train"});
  files.push_back({own / "tags" / "mlflow.source.type", "LOCAL"});
  files.push_back({own / "artifacts" / "epochs.csv", csv(training)});
  // The last: without it there is no run.
  files.push_back(
      {own / "meta.yaml",
       "artifact_uri: " + quoted(file_uri(folder / own / "artifacts")) + "\nend_time: " + end +
           "\nentry_point_name: ''\nexperiment_id: '" + id +
           "'\nlifecycle_stage: active\nrun_id: " + quoted(run) + "\nrun_name: " + quoted(name) +
           "\nrun_uuid: " + quoted(run) +
           "\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: " + begin +
           "\nstatus: " + (finished ? "3" : "4") + "\ntags: []\nuser_id: ''\n"});
  return files;
}

}  // namespace

std::string_view to_string(LogFormat format) {
  return kFormats[static_cast<std::size_t>(format)].second;
}

std::optional<LogFormat> parse_log_format(std::string_view word) {
  for (const auto& [format, known] : kFormats) {
    if (word == known) return format;
  }
  return std::nullopt;
}

std::string log_folder(const LoggedTraining& training) {
  return file_name(training.program) + "-" + training.variant + "-" +
         digest(identity(training)).substr(0, 8);
}

std::vector<LogFile> log_files(LogFormat format, const LoggedTraining& training,
                               const fs::path& folder) {
  const fs::path own = fs::path(log_folder(training)) / replica_name(training);
  switch (format) {
    case LogFormat::kCsv:
      return {{own.string() + ".csv", csv(training)}};
    case LogFormat::kTensorBoard:
      return {{own / "events.out.tfevents.neutra", event_file(training)}};
    case LogFormat::kMlflow:
      break;
  }
  return mlflow_run(training, fs::absolute(folder).lexically_normal());
}

}  // namespace neutra::evaluators
