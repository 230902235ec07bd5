#include "program/formats/keras_arrays.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "program/formats/keras_graph.h"
#include "program/formats/keras_json.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

constexpr std::size_t kMostNames = 1 << 16;  ///< layers or weights in a file

/// Arrays of a Normalization layer: mean, variance, and how many rows they are of.
constexpr std::array<std::string_view, 3> kStatistics{"mean", "variance", "count"};

/// Leaves out of a layer's arrays what Normalization layers have there and the program doesn't:
/// counts, and means and variances where they are arguments of the layer. `variables`: are they
/// none, for each Normalization layer of the program? `next`: the first of these not seen yet.
/// `numbered`: the arrays are those of such a layer, whose names don't tell.
void drop_statistics(std::vector<std::string>& arrays, const std::vector<bool>& variables,
                     std::size_t& next, bool numbered) {
  const auto names = [&](std::size_t at) {
    for (std::size_t i = 0; i < kStatistics.size(); ++i) {
      if (at + i >= arrays.size()) return false;
      std::string name = arrays[at + i].substr(arrays[at + i].rfind('/') + 1);
      name.resize(std::min(name.find(':'), name.size()));
      if (!numbered && name != kStatistics[i]) return false;
    }
    return true;
  };
  for (std::size_t at = 0; at < arrays.size();) {
    if (!names(at)) {
      ++at;
      continue;
    }
    const bool kept = next < variables.size() && variables[next++];
    const auto begin = arrays.begin() + static_cast<std::ptrdiff_t>(at);
    arrays.erase(kept ? begin + 2 : begin, begin + 3);
    at += kept ? 2 : 0;
  }
}

}  // namespace

std::vector<std::string> split_attribute(const Hdf5File& file, const std::string& object,
                                         const std::string& name) {
  if (file.has_attribute(object, name)) {
    return file.read_strings_attribute(object, name, kMostNames);
  }
  std::vector<std::string> texts;
  for (int i = 0; file.has_attribute(object, name + std::to_string(i)); ++i) {
    for (std::string& text :
         file.read_strings_attribute(object, name + std::to_string(i), kMostNames)) {
      texts.push_back(std::move(text));
    }
    if (texts.size() > kMostNames) break;
  }
  return texts;
}

std::vector<StoredLayer> KerasArrays::stored_layers(const KerasModel& model,
                                                    const ResolvedProgram& program) const {
  std::vector<StoredLayer> result;
  std::vector<bool> statistics;  // of each Normalization layer: are they variables?
  for (const ResolvedLayer& layer : program.layers) {
    if (!layer.weights_of && find_layer(layer.class_name)->adapts_to_data) {
      statistics.push_back(!layer.weights.empty());
    }
  }
  std::size_t next = 0;  // of these
  if (by_folder) {
    std::vector<KerasLayer> calls;
    if (model.model.is_null()) {  // weights alone: the program says which layers there are
      require_one_model(model.file);
      FolderNames names;
      for (const std::size_t i : keras_graph(program.layers).order) {
        calls.push_back(
            {nullptr, "", "layers/" + names.next(program.layers[i].class_name), Json()});
      }
    } else {
      calls = keras_layers(model);
    }
    for (const KerasLayer& layer : calls) {
      if (layer.call_of) continue;
      StoredLayer found{layer.folder, layer_variables("/" + layer.folder)};
      const std::string own = layer.folder.substr(layer.folder.rfind('/') + 1);
      if (own == "normalization" || own.starts_with("normalization_")) {
        drop_statistics(found.arrays, statistics, next, true);
      }
      if (!found.arrays.empty()) result.push_back(std::move(found));
    }
    return result;
  }
  for (const std::string& layer : layers) {
    StoredLayer found{layer, {}};
    for (const std::string& weight : split_attribute(file, root + layer, "weight_names")) {
      found.arrays.push_back(root + layer + "/" + weight);
    }
    drop_statistics(found.arrays, statistics, next, false);
    if (!found.arrays.empty()) result.push_back(std::move(found));
  }
  return result;
}

std::vector<std::string> KerasArrays::layer_variables(const std::string& folder, int depth) const {
  constexpr int kMostWrappers = 8;  // of a file whose groups hold themselves
  for (const char* own : {"/vars", "/cell/vars"}) {
    if (std::vector<std::string> paths = variables(folder + own); !paths.empty()) return paths;
  }
  std::vector<std::string> all;
  for (const char* wrapped : {"/forward_layer", "/backward_layer", "/layer"}) {
    // Keras 2 notes the layer that a Bidirectional was made of, too.
    if (depth == kMostWrappers || !file.has(folder + wrapped) ||
        (!all.empty() && wrapped == std::string_view("/layer"))) {
      continue;
    }
    for (std::string& path : layer_variables(folder + wrapped, depth + 1)) {
      all.push_back(std::move(path));
    }
  }
  return all;
}

void KerasArrays::require_one_model(const std::string& path) const {
  for (const std::string& layer : file.list("/layers")) {
    if (!file.has("/layers/" + layer + "/layers")) continue;
    throw input_error(
        describe(path, "/layers/" + layer, "weights of a model in the model",
                 "weights without such; or the model instead of its program, as to_json() writes "
                 "it: neutra evaluate MODEL.json --weights FILE"));
  }
}

void KerasArrays::adopt_statistics(Json& model, const std::string& folder) const {
  if (!model.is_object() || !model.contains("config")) return;
  Json& config = model["config"];
  Json* layers = &config;
  if (config.is_object()) {
    if (!config.contains("layers")) return;
    layers = &config["layers"];
  }
  if (!layers->is_array()) return;
  FolderNames names;
  for (Json& layer : *layers) {
    const std::string class_name = text_of(layer, "class_name");
    const std::string place = folder + "layers/" + names.next(class_name);
    if (!layer.is_object() || !value_of(layer, "config").is_object()) continue;
    const Layer* type = find_layer(class_name);
    if (type == nullptr || !type->adapts_to_data) {
      adopt_statistics(layer, place + "/");  // a model in the model
      continue;
    }
    Json& settings = layer["config"];
    if (!value_of(settings, "mean").is_null()) continue;
    std::vector<std::string> arrays;
    if (by_folder) {
      arrays = variables("/" + place + "/vars");
    } else {
      const std::string group = root + text_of(settings, "name");
      if (!file.has(group)) continue;
      for (const std::string& weight : split_attribute(file, group, "weight_names")) {
        arrays.push_back(group + "/" + weight);
      }
    }
    if (arrays.size() != kStatistics.size()) continue;
    constexpr std::uint64_t kMost = 1 << 20;  // numbers that a program can hold
    const std::vector<float> mean = file.read_floats(arrays[0], kMost);
    const std::vector<float> variance = file.read_floats(arrays[1], kMost);
    // As they begin: nothing was adapted.
    if (std::ranges::count(mean, 0) == std::ssize(mean) &&
        std::ranges::count(variance, 1) == std::ssize(variance)) {
      continue;
    }
    settings["mean"] = mean;
    settings["variance"] = variance;
  }
}

std::vector<std::string> KerasArrays::variables(const std::string& group) const {
  std::vector<std::string> paths;
  if (!file.has(group)) return paths;
  while (file.has(group + "/" + std::to_string(paths.size()))) {
    paths.push_back(group + "/" + std::to_string(paths.size()));
  }
  return paths;
}

}  // namespace neutra::program
