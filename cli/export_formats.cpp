#include "cli/export_formats.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "cli/stopping.h"
#include "fl_adapters/registry.h"
#include "fl_adapters/tool_folder.h"
#include "program/formats/keras_dialect.h"
#include "program/formats/keras_file.h"
#include "program/formats/keras_h5.h"
#include "program/formats/keras_script.h"
#include "program/formats/libtorch_program.h"
#include "program/formats/pickle.h"
#include "program/formats/pytorch_script.h"
#include "program/formats/tool_configs.h"
#include "program/formats/tool_scripts.h"
#include "program/layer.h"
#include "program/rate_schedule.h"
#include "training/torch_script.h"
#include "training/weights.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

bool has_validation(const ExportRequest& request) {
  return request.data != nullptr && !request.data->x_validation.values.empty();
}

bool has_validation_weights(const ExportRequest& request) {
  return request.data != nullptr && !request.data->weights_validation.values.empty();
}

program::KerasScriptOptions script_options(const ExportRequest& request) {
  program::KerasScriptOptions options{request.resolved.input_shape, has_validation(request),
                                      request.seed};
  options.validation_weights = has_validation_weights(request);
  return options;
}

std::vector<ExportFile> keras(const ExportRequest& request, program::KerasDialect dialect,
                              const char* requirements) {
  program::KerasScriptOptions options = script_options(request);
  options.standalone = true;
  options.dialect = dialect;
  if (dialect != program::KerasDialect::kKeras23) options.sidecar = sidecar(request).dump();
  return {{"train.py", program::keras_script(request.program, options)},
          {"requirements.txt", requirements}};
}

std::vector<ExportFile> tool_script(const ExportRequest& request, const char* tool) {
  return {{"train.py",
           program::find_tool_script(tool)->write(request.program, script_options(request))}};
}

/// A script for a tool that is a Keras 2.2.4 with a callbacks.py of its own.
std::vector<ExportFile> callback_script(const ExportRequest& request, const char* tool) {
  std::vector<ExportFile> files = tool_script(request, tool);
  files.push_back({"requirements.txt",
                   "# Python 3.7 at most; then put the tool's callbacks.py in place of Keras's\n"
                   "keras==2.2.4\ntensorflow>=1.13,<2\nprotobuf<3.21\n"});
  return files;
}

program::TorchScriptOptions torch_options(const ExportRequest& request) {
  return {has_validation(request), request.seed, has_validation_weights(request)};
}

/// Programs of LibTorch know one kind of schedule.
void require_plain_schedule(const program::ResolvedProgram& program) {
  if (program.schedule || !program::schedule_of(program)) return;
  throw input_error(describe("", "/fit/schedule", "another schedule than one with decay_rate alone",
                             "{decay_rate, every} in programs of LibTorch"));
}

/// Rows that a tool validates on.
std::pair<const training::Array*, const training::Array*> watched_rows(
    const training::Dataset& data) {
  return data.x_validation.values.empty() ? std::pair(&data.x_test, &data.y_test)
                                          : std::pair(&data.x_validation, &data.y_validation);
}

program::PickledArray pickled(const training::Array& array) {
  return {array.extents, array.values};
}

void require_rows(const ExportRequest& request) {
  if (request.data == nullptr) {
    throw input_error(
        describe("", "data of " + request.id, "no rows", "rows: the format has them"));
  }
}

std::vector<ExportFile> deepfd(const ExportRequest& request) {
  const std::string config = program::tool_config(request.program, "customized");
  require_rows(request);
  const auto [x, y] = watched_rows(*request.data);
  program::KerasScriptOptions options = script_options(request);
  options.dialect = program::KerasDialect::kKeras23;
  return {{"model.h5", program::keras_h5(request.program, request.resolved, request.weights)},
          {"config.pkl", config},
          {"dataset.pkl", program::pickle({{"x", pickled(request.data->x_train)},
                                           {"y", pickled(request.data->y_train)},
                                           {"x_val", pickled(*x)},
                                           {"y_val", pickled(*y)}})},
          {"origin.py", program::keras_script(request.program, options)}};
}

std::vector<ExportFile> autotrainer(const ExportRequest& request) {
  // The tool imports the rows from a module of the data set's name.
  constexpr const char* kModule = R"(import os
import numpy as np


def load_data():
    folder = os.path.dirname(os.path.abspath(__file__))
    arrays = [np.load(os.path.join(folder, name + ".npy")) for name in ("x_train", "y_train", "x_watched", "y_watched")]
    return (arrays[0], arrays[1]), (arrays[2], arrays[3])


def preprocess(x):
    return x
)";
  std::string module = kModule;
  const std::string rows = has_validation(request) ? "validation" : "test";
  for (std::size_t at = 0; (at = module.find("watched", at)) != std::string::npos;) {
    module.replace(at, 7, rows);
  }
  return {{"model.h5", program::keras_h5(request.program, request.resolved, request.weights)},
          {"config.pkl", program::tool_config(request.program, "neutradata")},
          {"neutradata.py", module}};
}

}  // namespace

const std::vector<ExportFormat>& export_formats() {
  using Request = const ExportRequest&;
  using Files = std::vector<ExportFile>;
  static const std::vector<ExportFormat> all{
      {"keras", "script for tf.keras 2.4 to 2.15, with its rows", "train.py", false, true,
       [](Request r) -> Files {
         return keras(r, program::KerasDialect::kTfKeras, "tensorflow>=2.4,<2.16\nnumpy<2\n");
       },
       true},
      {"keras3", "script for Keras 3, with its rows", "train.py", false, true,
       [](Request r) -> Files {
         return keras(r, program::KerasDialect::kKeras3,
                      "keras>=3\nnumpy\n# Keras's back end; another one is named by "
                      "KERAS_BACKEND=jax or torch\ntensorflow>=2.16\n");
       },
       true},
      {"keras23", "script for Keras 2.3 and before, with its rows", "train.py", false, true,
       [](Request r) -> Files {
         return keras(r, program::KerasDialect::kKeras23, "keras==2.3.1\ntensorflow<2.4\n");
       },
       true},
      {"pytorch", "script for PyTorch with Keras's semantics, with its rows", "train.py", false,
       true,
       [](Request r) -> Files {
         program::require_drawn_weights(r.program.document);
         return {{"train.py", program::pytorch_script(r.resolved, torch_options(r))},
                 {"requirements.txt", "torch>=1.13\nnumpy\n"}};
       },
       true},
      {"libtorch", "C++ file for LibTorch with Keras's semantics, with its rows", "train.cpp",
       false, true,
       [](Request r) -> Files {
         program::require_drawn_weights(r.program.document);
         require_plain_schedule(r.resolved);
         return {{"train.cpp", program::libtorch_program(r.resolved, torch_options(r))},
                 {"CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.18)\nproject(train C CXX)\n"
                  "set(CMAKE_BUILD_TYPE Release)\nset(CMAKE_CXX_STANDARD 17)\n"
                  "find_package(Torch REQUIRED)\nadd_executable(train train.cpp)\n"
                  "target_link_libraries(train PRIVATE ${TORCH_LIBRARIES})\n"}};
       },
       true},
      {"h5", "Keras 2 model file with weights", "model.h5", true, false,
       [](Request r) -> Files {
         return {{"model.h5", program::keras_h5(r.program, r.resolved, r.weights)}};
       }},
      {"keras-file", "Keras 3 model file (.keras) with weights", "model.keras", true, false,
       [](Request r) -> Files {
         return {{"model.keras", program::keras_file(r.program, r.resolved, r.weights)}};
       }},
      {"torchscript", "TorchScript model with weights", "model.pt", true, false,
       [](Request r) -> Files {
         return {{"model.pt", training::torchscript(r.resolved, r.weights)}};
       }},
      {"deepfd", "DeepFD's model, config and data", "model.h5", false, false, deepfd},
      {"umlaut", "tf.keras script with UMLAUT's callback, with its rows", "train.py", false, true,
       [](Request r) -> Files {
         // The tool draws its messages with dash, and asks for it even where nothing is drawn.
         Files files = tool_script(r, "umlaut");
         files.emplace_back("requirements.txt",
                            "tensorflow>=2.4,<2.16\nnumpy<2\ndash<3\npymongo\nrequests\n"
                            "termcolor\n");
         return files;
       },
       true},
      {"deepdiagnosis", "Keras 2.2.4 script with DeepDiagnosis's callback, with its rows",
       "train.py", false, true,
       [](Request r) -> Files { return callback_script(r, "deepdiagnosis"); }, true},
      {"deeplocalize", "Keras 2.2.4 script with DeepLocalize's callback, with its rows", "train.py",
       false, true, [](Request r) -> Files { return callback_script(r, "deeplocalize"); }, true},
      {"neuralint", "Keras 2 script in what NeuraLint reads", "train.py", false, true,
       [](Request r) -> Files { return tool_script(r, "neuralint"); }},
      {"autotrainer", "AutoTrainer's model and config, with its rows", "model.h5", false, false,
       autotrainer, true},
  };
  return all;
}

const ExportFormat* find_export_format(std::string_view name) {
  const auto it = std::find_if(export_formats().begin(), export_formats().end(),
                               [&](const ExportFormat& format) { return format.name == name; });
  return it == export_formats().end() ? nullptr : &*it;
}

bool is_for_tool(const ExportFormat& format) {
  return fl_adapters::find_tool(format.name) != nullptr;
}

Json sidecar(const ExportRequest& request) {
  Json json = request.program.document;
  json["format"] = "neutra-sidecar";
  // Keras puts one in front of every model that it stores.
  const std::vector<program::ResolvedLayer>& layers = request.resolved.layers;
  json["input_layer"] =
      !layers.empty() && program::kind_of(layers.front()) == program::LayerKind::kInput;
  json.erase("model");
  if (request.space == nullptr) return json;
  Json keys = Json::array();
  for (const program::Key& key : request.space->keys()) {
    Json entry{{"name", key.name}, {"kind", to_string(key.kind)}, {"paths", key.paths}};
    for (const auto& [spelling, meaning] : key.values) entry["values"][spelling] = meaning;
    keys.push_back(std::move(entry));
  }
  if (!keys.empty()) json["keys"] = std::move(keys);
  return json;
}

std::vector<std::string> export_folder(const ExportFormat& format, const ExportRequest& request,
                                       const fs::path& given) {
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  fl_adapters::require_empty(folder);
  const std::vector<ExportFile> files = format.make(request);
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : ".";
  fs::create_directories(parent);
  TemporaryFolder fresh(parent, ".export");
  std::vector<std::string> names;
  fresh.become(folder, [&] {
    for (const auto& [name, content] : files) {
      require_not_stopped();
      write_file_atomically(fresh.path() / name, content);
    }
    require_not_stopped();
    if (format.rows && request.data != nullptr)
      fl_adapters::write_measured_arrays(*request.data, fresh.path());
    require_not_stopped();
    for (const auto& entry : fs::recursive_directory_iterator(fresh.path())) {
      if (entry.is_regular_file())
        names.push_back(fs::relative(entry.path(), fresh.path()).string());
    }
  });
  std::sort(names.begin(), names.end());
  return names;
}

program::ModelWeights initial_weights(const program::Program& program,
                                      const program::ResolvedProgram& resolved, std::uint64_t seed,
                                      int replica, bool independent) {
  const Hash hash = independent ? program::program_hash(program) : program::stream_hash(program);
  return training::Weights(resolved, training::random_key(seed, hash, replica)).by_layer();
}

}  // namespace neutra::cli
