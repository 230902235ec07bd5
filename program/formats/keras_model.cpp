#include "program/formats/keras_model.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/words.h"
#include "base/zip_file.h"
#include "program/formats/keras_arrays.h"
#include "program/formats/keras_json.h"
#include "program/formats/keras_weights.h"

namespace neutra::program {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestWeights = std::uint64_t{4} << 30;  ///< bytes in a .keras file

[[noreturn]] void fail(const std::string& file, const std::string& found,
                       const std::string& more = "") {
  throw input_error(describe(file, "", found, "a Keras model: .h5, .hdf5, .keras" + more));
}

bool has_split_attribute(const Hdf5File& file, const std::string& name) {
  return file.has_attribute("/", name) || file.has_attribute("/", name + "0");
}

std::string joined_attribute(const Hdf5File& file, const std::string& name) {
  return join(split_attribute(file, "/", name), "");
}

/// The JSON of an attribute; null where there is none.
Json json_attribute(const Hdf5File& file, const std::string& name, const std::string& path) {
  if (!has_split_attribute(file, name)) return {};
  const std::string text = joined_attribute(file, name);
  if (text.size() > kLargestFile) {
    throw input_error(describe(path, name, size_text(text.size()) + " of text",
                               "at most " + size_text(kLargestFile)));
  }
  Json json = parse_json(text, path + ": " + name);
  // Keras 1 stores an empty text where there is nothing.
  return json;
}

}  // namespace

bool is_keras_json(const Json& json) {
  return value_of(json, "class_name").is_string() && json.contains("config");
}

bool is_keras_json(const fs::path& file) {
  constexpr std::size_t kBlanks = 64;  // an editor may have put some in front
  const std::string start = start_of_file(file, kBlanks);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || start[first] != '{') return false;
  try {
    return is_keras_json(read_json(file));
  } catch (const Error&) {  // whoever reads it says what is wrong
    return false;
  }
}

bool is_keras_model_file(const fs::path& file) {
  const std::string start = start_of_file(file, kHdf5Start.size());
  if (start == kHdf5Start) return true;
  return start.starts_with(kZipStart) && ZipFile(file, "a zip file").has("config.json");
}

KerasModelFile::KerasModelFile(const fs::path& path) {
  model_.file = path.string();
  const std::string start = start_reading(path);
  if (start == kHdf5Start) {
    read_h5(path);
  } else if (start.starts_with(kZipStart)) {
    read_keras(path);
  } else if (is_keras_json(path)) {
    read_json_file(path);
  } else {
    fail(model_.file, kind_of_file(path), ", the JSON of to_json()");
  }
}

/// Its first bytes.
std::string KerasModelFile::start_reading(const fs::path& path) const {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw input_error(model_.file + ": there is no such file");
  if (fs::is_directory(path, ignored)) {
    fail(model_.file, "a folder",
         fs::exists(path / "saved_model.pb", ignored)
             ? "; a SavedModel holds graphs: save the model as .keras"
             : "");
  }
  require_no_pipe(path, "a Keras model: .h5, .hdf5, .keras");
  return start_of_file(path, kHdf5Start.size());
}

void KerasModelFile::read_keras(const fs::path& path) {
  const ZipFile zip(path, "a .keras file");
  if (!zip.has("config.json")) {
    fail(model_.file, "a zip file without config.json",
         "; TorchScript and other archives of PyTorch hold code and can't be imported");
  }
  model_.model = parse_json(zip.read("config.json", kLargestFile), model_.file + ": config.json");
  if (zip.has("metadata.json")) {
    model_.version = text_of(
        parse_json(zip.read("metadata.json", kLargestFile), model_.file + ": metadata.json"),
        "keras_version");
  }
  model_.training = value_of(model_.model, "compile_config");
  if (model_.training.empty()) model_.training = Json();
  if (!zip.has("model.weights.h5")) return;
  arrays_.reset(new KerasArrays{Hdf5File::open_image(zip.read("model.weights.h5", kLargestWeights),
                                                     model_.file + ": model.weights.h5"),
                                "/",
                                {},
                                true});
  arrays_->adopt_statistics(model_.model, "");
}

void KerasModelFile::read_json_file(const fs::path& path) {
  model_.model = read_json(path);
  model_.version = text_of(model_.model, "keras_version");
  model_.backend = text_of(model_.model, "backend");
  // Keras 3 writes no version, and the modules of classes, which Keras 2 names in layers alone.
  if (model_.version.empty() && model_.model.contains("module")) model_.version = "3";
  model_.training = value_of(model_.model, "compile_config");
  if (model_.training.empty()) model_.training = Json();
}

void KerasModelFile::read_h5(const fs::path& path) {
  arrays_.reset(new KerasArrays{Hdf5File::open(path), "/", {}, false});
  const Hdf5File& file = arrays_->file;
  model_.model = json_attribute(file, "model_config", model_.file);
  model_.training = json_attribute(file, "training_config", model_.file);
  if (file.has("/model_weights")) arrays_->root = "/model_weights/";
  const std::string group = arrays_->root == "/" ? "/" : "/model_weights";
  for (const char* name : {"keras_version", "backend"}) {
    std::string& text = name == std::string_view("backend") ? model_.backend : model_.version;
    for (const std::string& place : {std::string("/"), group}) {
      if (text.empty() && file.has_attribute(place, name)) {
        text = file.read_string_attribute(place, name);
      }
    }
  }
  arrays_->layers = split_attribute(file, group, "layer_names");
  arrays_->by_folder = arrays_->layers.empty() && group == "/" && file.has("/layers");
  arrays_->adopt_statistics(model_.model, "");
  if (model_.model.is_null() && arrays_->layers.empty() && !arrays_->by_folder) {
    fail(model_.file, "an HDF5 file without model_config, layer_names and layers");
  }
}

KerasModelFile::KerasModelFile(KerasModelFile&&) noexcept = default;
KerasModelFile::~KerasModelFile() = default;

ModelWeights KerasModelFile::weights(const ResolvedProgram& program,
                                     const KerasModel* structure) const {
  if (arrays_ == nullptr) {
    throw input_error(describe(
        model_.file, "", "a model without weights",
        "a file with weights; those of a model's JSON lie in a file of their own: --weights"));
  }
  const bool alone = model_.model.is_null() && structure != nullptr;
  return keras_weights(*arrays_, model_, alone ? *structure : model_, program);
}

}  // namespace neutra::program
