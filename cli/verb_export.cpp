#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "cli/export_formats.h"
#include "cli/imports.h"
#include "cli/originals.h"
#include "cli/outputs.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "experiments/catalog.h"
#include "experiments/search_task.h"
#include "search/options.h"
#include "training/weight_cache.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// The model of --replica, or its program with initial weights. `file`: of the program.
void take_weights(const Arguments& arguments, const fs::path& file, training::LocalTrainer& trainer,
                  ExportRequest& request, program::Program& program) {
  const auto seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  const bool independent = arguments.text("stream") == "independent";
  if (!arguments.has("replica")) {
    request.weights = initial_weights(program, request.resolved, seed, 0, independent);
    if (const Json* initial = training::initial_weights_of(program)) {
      training::WeightCache cache(data_path(arguments, file));
      const auto given = cache.get(*initial, request.resolved);
      for (std::size_t i = 0; i < given->size(); ++i) {
        const std::size_t owner = request.resolved.layers[i].weights_of.value_or(i);
        if (!(*given)[owner].empty()) request.weights[i] = (*given)[owner];
      }
    }
    return;
  }
  warn_of(request.id, program);
  training::TrainingJob job;
  job.program = &program;
  job.seed = seed;
  job.replica = static_cast<int>(arguments.integer("replica"));
  if (independent) job.stream = training::StreamKey::kIndependent;
  job.time_limit = arguments.seconds("time-limit");
  job.memory_limit = arguments.bytes("memory-limit");
  job.stop = &stop_requested();
  training::TrainedModel model = trainer.train_model(job);
  if (model.weights.empty()) {
    throw failure("replica " + std::to_string(job.replica) +
                  " has no weights: " + std::string(to_string(model.training.status)) +
                  (model.training.message.empty() ? "" : ": " + model.training.message));
  }
  if (!arguments.flag("quiet"))
    std::cerr << "replica " << job.replica << ": "
              << experiments::metric_of(program, request.id).name << ' '
              << shortest(model.training.metric) << '\n';
  program = model.program;
  request.resolved = trainer.resolved(program);
  request.weights = std::move(model.weights);
}

/// Does --output name the main file alone?
bool names_main_file(const fs::path& output, const ExportFormat& format) {
  return format.model || output.extension() == fs::path(format.main).extension();
}

/// Who reads the model's program looks for its data beside it first.
void require_other_name(const fs::path& output, const program::Program& program) {
  const Json& data = program.document.at("data");
  const Json* arguments = member(data, "arguments");
  const Json* file = arguments != nullptr ? member(*arguments, "file") : nullptr;
  if (file != nullptr && file->is_string() &&
      fs::path(file->get<std::string>()).filename() == output.filename())
    throw input_error("--output: found " + output.string() +
                      ", the name of the program's data file; allowed: another name");
}

/// The file beside a model. Throws usage_error where it would replace anything but the sidecar of a
/// model of this name, or that of another one.
fs::path require_sidecar(const fs::path& output, const fs::path& read) {
  const fs::path beside = sidecar_file(output);
  require_text_output(beside.string(), "--output");
  require_not_read(beside.string(), "--output", {read});
  std::error_code ignored;
  if (!fs::exists(beside, ignored)) return beside;
  const Json found = read_json(beside);
  if (found.is_object() && found.value("format", Json()) == "neutra-sidecar") {
    fs::path other = output;
    for (const char* extension : {".h5", ".keras", ".pt"})
      if (other.replace_extension(extension); other != output && fs::exists(other, ignored))
        throw usage_error("--output: found " + beside.string() + ", the sidecar of " +
                          other.string() + "; allowed: another name");
    return beside;
  }
  throw usage_error("--output: found " + beside.string() +
                    ", which is no sidecar of a model; allowed: another name");
}

/// What was written, or the script itself.
struct Exported {
  std::string program, version, form;
  std::string output;  ///< "": none; then `text` is printed
  std::vector<std::string> files;
  std::string missing = {};  ///< why there are no arrays; "": there is no reason
  std::string text = {};
};

Json json_of(const Exported& exported) {
  Json json{{"format", "neutra-export"},
            {"version", 1},
            {"program", exported.program},
            {"program_version", exported.version},
            {"form", exported.form}};
  if (exported.output.empty()) {
    json["text"] = exported.text;
    return json;
  }
  json["output"] = exported.output;
  json["files"] = exported.files;
  json["missing_data"] = exported.missing.empty() ? Json(nullptr) : Json(exported.missing);
  return json;
}

/// People are told nothing of what was written.
std::string text_of(const Exported& exported) { return exported.text; }

/// The program with its data, where they are here; `missing`: why not, where it can do without.
ExportRequest request_of(const Arguments& arguments, Original& original,
                         training::LocalTrainer& trainer, std::string& missing) {
  const program::Program& program = original.program;
  ExportRequest request{original.id, program, program::resolve(program), &original.space, nullptr,
                        {},          0};
  request.seed = static_cast<std::uint32_t>(arguments.integer("seed") % 0x7fffffff);
  try {
    request.data = trainer.dataset(program);
  } catch (const MissingData& error) {
    // A program that declares its input can do without.
    if (request.resolved.input_shape.empty() || arguments.has("replica")) throw;
    missing = error.what();
  }
  if (request.data) {
    if (const auto reason = trainer.refusal(program))
      throw input_error(original.file.string() + ": " + *reason);
    request.resolved = trainer.resolved(program);
  }
  return request;
}

/// Writes what --output names. Throws usage_error and input_error.
Exported written_to(const fs::path& output, const ExportFormat& format,
                    const ExportRequest& request, const fs::path& read,
                    const std::string& missing) {
  Exported exported;
  exported.output = output.string();
  if (!names_main_file(output, format)) {
    exported.files = export_folder(format, request, output);
    if (format.rows) exported.missing = missing;
    return exported;
  }
  require_not_read(output.string(), "--output", {read});
  if (!format.model) {
    require_text_output(output.string(), "--output");
    write_file_atomically(output, format.make(request).front().second);
    exported.files = {output.filename().string()};
    return exported;
  }
  require_model_output(output.string(), "--output");
  require_other_name(output, request.program);
  const fs::path beside = require_sidecar(output, read);
  const std::string model = format.make(request).front().second;
  require_not_stopped();
  write_file_atomically(beside, neutra::to_text(sidecar(request)));
  write_file_atomically(output, model);
  exported.files = {output.filename().string(), beside.filename().string()};
  return exported;
}

Result run(const Arguments& arguments) {
  catch_signals();
  const ExportFormat& format = *find_export_format(arguments.text("format"));
  if (!arguments.has("output") && !format.text) {
    throw usage_error("--output: found none; allowed: a " +
                      std::string(format.model ? "file" : "folder") + " for " + format.name);
  }
  Original original = load_original(arguments, is_for_tool(format));
  program::require_valid(original.program.document, original.file.string());
  const auto trainer = make_trainer(arguments, original.file);
  std::string missing;
  ExportRequest request = request_of(arguments, original, *trainer, missing);
  Exported exported;
  try {
    // The keys of the buggy version need not fit the fixed one.
    if (!original.space.parameters_of(original.program)) request.space = nullptr;
    if (!format.text) take_weights(arguments, original.file, *trainer, request, original.program);
    if (arguments.has("output"))
      exported = written_to(arguments.text("output"), format, request, original.file, missing);
    else
      exported.text = format.make(request).front().second;
  } catch (const Error& error) {
    if (error.exit() != Exit::kBadInput) throw;
    throw input_error(format.name + ": " + error.what());
  }
  if (!exported.missing.empty())
    std::cerr << "no arrays: the data are not here: " << exported.missing << '\n';
  exported.program = original.id;
  exported.version = arguments.text("version");
  exported.form = format.name;
  return result_of(std::move(exported));
}

std::string formats_help() {
  std::size_t width = 0;
  for (const ExportFormat& format : export_formats()) width = std::max(width, format.name.size());
  std::string text;
  for (const ExportFormat& format : export_formats()) {
    text += "  " + format.name + std::string(width - format.name.size() + 2, ' ') + format.summary +
            " (" + format.main + ")\n";
  }
  return text;
}

}  // namespace

Verb export_verb() {
  std::vector<std::string> formats;
  for (const ExportFormat& format : export_formats()) formats.push_back(format.name);
  return {.name = "export",
          .summary = "write a program for other frameworks and tools",
          .synopsis =
              "export FAULT|SUBJECT|FILE --format NAME -o FILE|FOLDER [--version buggy|fixed] "
              "[--replica N] [options]",
          .options = {.names = {"backend", "data-dir", "memory-limit", "output", "replica",
                                "rows-train", "seed", "stream", "time-limit", "version"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "FAULT|SUBJECT|FILE",
                      .formats = formats},
          .description = "Formats (docs/formats/exports.md):\n" + formats_help() +
                         "\n"
                         "A model file goes to FILE, and what it can't hold beside it as FILE's "
                         "name with .neutra.json. All else goes to\n"
                         "FOLDER, empty or still to be made; with a FILE that ends as the script "
                         "does, or without -o, the script alone is\n"
                         "written. Exit 3 names what the format can't hold.",
          .example =
              "  neutra export D7 --format keras -o D7-keras\n"
              "  neutra export M1 --format h5 --replica 0 -o m1.h5\n"
              "  neutra export iris --format pytorch",
          .run = run};
}

}  // namespace neutra::cli
