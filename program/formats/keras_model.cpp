#include "program/formats/keras_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/words.h"
#include "base/zip_file.h"
#include "program/document.h"
#include "program/formats/keras_config.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestWeights = std::uint64_t{4} << 30;  ///< bytes in a .keras file
constexpr std::size_t kMostLayers = 1000;                          ///< as a program may have
constexpr std::size_t kMostNames = 1 << 16;                        ///< layers or weights in a file

const Json& nothing() {
  static const Json null;
  return null;
}

const Json& value_of(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  return value != nullptr ? *value : nothing();
}

std::string text_of(const Json& object, std::string_view key) {
  const Json& value = value_of(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// "layer 'conv' (Conv2D)"
std::string title(const std::string& name, const std::string& class_name) {
  return "layer " + (name.empty() ? "" : "'" + name + "' ") + "(" + class_name + ")";
}

/// Names of the variables' folders of layers one behind the other: "dense", "dense_1", ...
class FolderNames {
 public:
  std::string next(const std::string& class_name) {
    const std::string name = keras_snake_case(class_name);
    const int before = used_[name]++;
    return before == 0 ? name : name + "_" + std::to_string(before);
  }

 private:
  std::map<std::string, int> used_;
};

/// Follows a model from its input to its output.
class Chain {
 public:
  explicit Chain(const KerasModel& model)
      : file_(model.file), calls_rule_(model.major_version() < 3) {
    add_model(model.model, "", Json());
  }
  std::vector<KerasLayer> layers() && { return std::move(layers_); }

 private:
  /// Operations of Keras 3 that make masks.
  struct Masks {
    struct Operation {
      std::string kind;    ///< "NotEqual", "Any" of the last axis, "Any of axis 1"
      std::string source;  ///< what it is made of
      Json other;          ///< NotEqual: what it compares with
    };
    struct Use {
      std::string place;  ///< the call
      std::string root;   ///< what its mask is made of
      std::string kinds;  ///< of the operations, from the call on
      Json other;
    };
    std::map<std::string, Operation> made;
    std::vector<Use> used;
  };

  [[noreturn]] void fail(const std::string& place, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(file_, place, found, allowed));
  }

  static bool is_functional(const std::string& class_name) {
    return class_name == "Functional" || class_name == "Model";
  }
  static bool is_model(const std::string& class_name) {
    return class_name == "Sequential" || is_functional(class_name);
  }

  /// `training`: of the model's call.
  void add_model(const Json& model, const std::string& folder, const Json& training) {
    const std::string class_name = text_of(model, "class_name");
    const Json& config = value_of(model, "config");
    const std::string name = text_of(config, "name");
    const std::string place = "model" + (name.empty() ? "" : " '" + name + "'");
    if (!is_model(class_name)) {
      fail(place, "class " + shown(value_of(model, "class_name")),
           "Sequential, Functional, Model; a class of your own is Python code");
    }
    const Json& layers = config.is_array() ? config : value_of(config, "layers");
    if (!layers.is_array()) fail(place, "no layers", "config.layers, an array");
    std::vector<KerasLayer> own;
    FolderNames names;
    for (const Json& layer : layers) {
      const std::string layer_class = text_of(layer, "class_name");
      if (layer_class.empty()) fail(place, shown(layer), "a layer {class_name, config}");
      std::string layer_name = text_of(value_of(layer, "config"), "name");
      if (layer_name.empty()) layer_name = text_of(layer, "name");
      own.push_back({&layer, layer_name, folder + "layers/" + names.next(layer_class), training});
    }
    if (is_functional(class_name)) own = ordered(own, config, place);
    for (const KerasLayer& layer : own) {
      const std::string layer_class = text_of(*layer.json, "class_name");
      if (is_model(layer_class)) {
        add_model(*layer.json, layer.folder + "/", layer.training);
      } else if (const Json& run = value_of(value_of(*layer.json, "config"), "layer");
                 layer_class == "TimeDistributed" && is_model(text_of(run, "class_name"))) {
        add_distributed(layer, run);
      } else if (layer_class != "InputLayer" || layers_.empty()) {
        layers_.push_back(layer);
      }
      if (layers_.size() > kMostLayers) {
        fail(place, "more than " + std::to_string(kMostLayers) + " layers",
             "at most " + std::to_string(kMostLayers));
      }
    }
  }

  /// A model on each step is each of its layers on each step.
  void add_distributed(const KerasLayer& wrapper, const Json& model) {
    const std::size_t before = layers_.size();
    add_model(model, wrapper.folder + "/layer/", wrapper.training);
    const Json settings = value_of(*wrapper.json, "config");
    bool first = true;
    for (std::size_t i = before; i < layers_.size(); ++i) {
      KerasLayer& layer = layers_[i];
      if (text_of(*layer.json, "class_name") == "InputLayer") continue;
      Json config = {{"name", layer.name}, {"layer", *layer.json}};
      for (const char* key : {"batch_input_shape", "batch_shape", "trainable"}) {
        const bool input = key != std::string_view("trainable");
        if (settings.contains(key) && (first || !input)) config[key] = settings[key];
      }
      first = false;
      layer.made = std::make_shared<const Json>(
          Json{{"class_name", "TimeDistributed"}, {"config", std::move(config)}});
      layer.json = layer.made.get();
    }
    const auto of_rows = [](const KerasLayer& layer) {  // an input without steps
      return text_of(*layer.json, "class_name") == "InputLayer";
    };
    const auto begin = layers_.begin() + static_cast<std::ptrdiff_t>(before);
    layers_.erase(std::remove_if(begin, layers_.end(), of_rows), layers_.end());
  }

  /// The layers of a functional model, from the one that is its input to the one that is its
  /// output.
  std::vector<KerasLayer> ordered(std::vector<KerasLayer> layers, const Json& config,
                                  const std::string& place) const {
    Masks masks;
    if (!calls_rule_) masks = take_masks(layers);
    const std::string input = only_end(config, "input_layers", place);
    const std::string output = only_end(config, "output_layers", place);
    std::map<std::string, const KerasLayer*> by_name;
    std::map<std::string, const KerasLayer*> after;
    for (const KerasLayer& layer : layers) {
      if (!by_name.emplace(layer.name, &layer).second) {
        fail(place, "two layers of the name '" + layer.name + "'", "names of their own");
      }
    }
    for (KerasLayer& layer : layers) {
      const std::string source = only_source(layer, masks);
      if (source.empty()) {
        if (layer.name == input) continue;
        fail(title(layer.name, text_of(*layer.json, "class_name")), "no input",
             "models that are chains of layers");
      }
      if (!by_name.contains(source)) {
        fail(title(layer.name, text_of(*layer.json, "class_name")),
             "an input '" + source + "', which is no layer", "the name of a layer");
      }
      if (!after.emplace(source, &layer).second) {
        fail(place,
             "a branch: '" + source + "' goes into '" + after.at(source)->name + "' and '" +
                 layer.name + "'",
             "models that are chains of layers");
      }
    }
    if (!by_name.contains(input)) fail(place, "no layer '" + input + "', its input", "");
    for (const Masks::Use& use : masks.used) {
      const auto next = after.find(use.root);
      if (next == after.end() || !makes_mask(*next->second)) {
        fail(use.place, "a mask of its own", "masks that Masking or Embedding makes");
      }
      require_mask_of(*next->second, use);
    }
    std::vector<KerasLayer> chain{*by_name.at(input)};
    while (chain.back().name != output) {
      const auto next = after.find(chain.back().name);
      // No layer has two sources, so a walk from the input never comes to a loop.
      if (next == after.end()) {
        fail(place, "no way from '" + input + "' to '" + output + "'",
             "models that are chains of layers");
      }
      chain.push_back(*next->second);
      if (chain.size() > layers.size()) fail(place, "a loop of layers", "chains of layers");
    }
    if (chain.size() != layers.size()) {
      fail(place, "layers that are not between its input and its output",
           "models that are chains of layers");
    }
    return chain;
  }

  /// The one layer at an end: [["name", 0, 0]], or ["name", 0, 0] in Keras 3.
  std::string only_end(const Json& config, const char* field, const std::string& place) const {
    const Json& ends = value_of(config, field);
    const Json* end = &ends;
    if (ends.is_array() && ends.size() == 1 && ends.front().is_array()) end = &ends.front();
    if (end->is_array() && !end->empty() && end->front().is_string()) return end->front();
    fail(place, std::string(field) + " " + shown(ends), "one layer: models that are chains");
  }

  /// The layer that a layer of a functional model gets its input from; "" for none. Notes how it is
  /// called.
  std::string only_source(KerasLayer& layer, Masks& masks) const {
    const std::string place = title(layer.name, text_of(*layer.json, "class_name"));
    const Json& nodes = value_of(*layer.json, "inbound_nodes");
    if (!nodes.is_array() || nodes.empty()) return "";
    if (nodes.size() > 1) {
      fail(place, "a layer that is used " + std::to_string(nodes.size()) + " times",
           "layers that are used once");
    }
    const Json& node = nodes.front();
    const char* const kChains = "one input: models that are chains of layers";
    if (node.is_object()) {  // Keras 3: {args: [tensor], kwargs}
      const Json& arguments = value_of(node, "args");
      if (!arguments.is_array() || arguments.size() != 1) fail(place, shown(arguments), kChains);
      if (arguments.front().is_array() && arguments.front().size() > 1) {
        fail(place, std::to_string(arguments.front().size()) + " inputs", kChains);
      }
      note_arguments(value_of(node, "kwargs"), layer, place, masks);
      const std::string source = maker_of(arguments.front());
      if (source.empty()) fail(place, shown(arguments), kChains);
      return source;
    }
    // Keras 1 and 2: [[name, node, tensor, arguments]], or without the inner brackets
    const Json* source = &node;
    if (node.is_array() && node.size() == 1) source = &node.front();
    if (node.is_array() && node.size() > 1 && node.front().is_array()) {
      fail(place, std::to_string(node.size()) + " inputs", kChains);
    }
    if (!source->is_array() || source->size() < 3 || !source->front().is_string()) {
      fail(place, shown(node), kChains);
    }
    if (source->size() > 3) note_arguments((*source)[3], layer, place, masks);
    return source->front();
  }

  /// The layer that a tensor of Keras 3 comes from; "" for what is no tensor.
  static std::string maker_of(const Json& tensor) {
    const Json& history = value_of(value_of(tensor, "config"), "keras_history");
    return history.is_array() && !history.empty() && history.front().is_string()
               ? history.front().get<std::string>()
               : "";
  }

  /// Keras 3 writes the masks down that Masking and Embedding make, as operations beside the chain
  /// and arguments of calls. Takes them out of the layers: neutra's masks go the same way.
  static Masks take_masks(std::vector<KerasLayer>& layers) {
    Masks masks;
    std::erase_if(layers, [&](const KerasLayer& layer) {
      const std::string class_name = text_of(*layer.json, "class_name");
      if (class_name != "NotEqual" && class_name != "Any") return false;
      const Json& nodes = value_of(*layer.json, "inbound_nodes");
      if (!nodes.is_array() || nodes.size() != 1) return false;
      const Json& arguments = value_of(nodes.front(), "args");
      if (!arguments.is_array() || arguments.empty()) return false;
      const Json& axis = value_of(value_of(*layer.json, "config"), "axis");
      const bool other_axis = class_name == "Any" && axis != -1;
      masks.made[layer.name] = {class_name + (other_axis ? " of axis " + shown(axis) : ""),
                                maker_of(arguments.front()),
                                arguments.size() > 1 ? arguments[1] : Json()};
      return true;
    });
    return masks;
  }

  static bool makes_mask(const KerasLayer& layer) {
    return text_of(*layer.json, "class_name") == "Masking" ||
           value_of(value_of(*layer.json, "config"), "mask_zero") == true;
  }

  /// Is the mask of a call the one that the layer makes?
  void require_mask_of(const KerasLayer& layer, const Masks::Use& use) const {
    const std::string class_name = text_of(*layer.json, "class_name");
    const bool masking = class_name == "Masking";
    const Json& set = value_of(value_of(*layer.json, "config"), "mask_value");
    const Json value = masking && !set.is_null() ? set : Json(0);
    if (use.other == value && use.kinds == (masking ? "Any NotEqual " : "NotEqual ")) return;
    fail(use.place, "a mask of its own: " + use.kinds + shown(use.other),
         "the mask that " + title(layer.name, class_name) + " makes, where its input is not " +
             shown(value) + ": call the layer without mask");
  }

  void note_arguments(const Json& arguments, KerasLayer& layer, const std::string& place,
                      Masks& masks) const {
    if (!arguments.is_object()) return;
    for (const auto& [key, value] : arguments.items()) {
      if (value.is_null()) continue;
      if (key == "training" && value.is_boolean()) {
        if (calls_rule_) layer.training = value;
        continue;
      }
      if (key == "mask" && masks.made.contains(maker_of(value))) {
        Masks::Use use{place, maker_of(value), "", Json()};
        for (std::size_t i = 0; i < masks.made.size() && masks.made.contains(use.root); ++i) {
          const Masks::Operation& operation = masks.made.at(use.root);
          use.kinds += operation.kind + " ";
          use.other = operation.other;
          use.root = operation.source;
        }
        masks.used.push_back(std::move(use));
        continue;
      }
      fail(place, "called with " + key + " = " + shown(value),
           "calls with the input alone, or with training");
    }
  }

  const std::string& file_;
  bool calls_rule_;  ///< a call's `training` holds whatever the model does: before Keras 3
  std::vector<KerasLayer> layers_;
};

/// An attribute that may be split: name, or name0, name1, ...
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

/// Arrays of one layer of the file, or of a model in the model.
struct StoredLayer {
  std::string name;
  std::vector<std::string> arrays;  ///< paths of datasets
};

/// One array with its extents.
struct Stored {
  std::string path;
  Shape shape;
  std::vector<float> values;
};

/// `array` with its axes in another order: axis i of the result is axis order[i].
void transpose(Stored& array, const std::vector<std::size_t>& order) {
  const std::size_t rank = array.shape.size();
  Shape shape(rank);
  std::vector<std::size_t> stride(rank, 1), step(rank);
  for (std::size_t i = rank - 1; i-- > 0;) {
    stride[i] = stride[i + 1] * static_cast<std::size_t>(array.shape[i + 1]);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = array.shape[order[i]];
    step[i] = stride[order[i]];
  }
  std::vector<float> values;
  values.reserve(array.values.size());
  Shape index(rank, 0);
  for (std::size_t n = 0, from = 0; n < array.values.size(); ++n) {
    values.push_back(array.values[from]);
    for (std::size_t i = rank; i-- > 0;) {
      from += step[i];
      if (++index[i] < shape[i]) break;
      from -= step[i] * static_cast<std::size_t>(shape[i]);
      index[i] = 0;
    }
  }
  array.shape = std::move(shape);
  array.values = std::move(values);
}

/// Turns a kernel round on all axes but the last two: Theano convolves, others correlate
/// (keras/utils/conv_utils.py: convert_kernel).
void flip_kernel(Stored& kernel) {
  const auto filters = static_cast<std::size_t>(kernel.shape[kernel.shape.size() - 1] *
                                                kernel.shape[kernel.shape.size() - 2]);
  const std::size_t places = kernel.values.size() / filters;
  for (std::size_t i = 0; i < places / 2; ++i) {
    std::swap_ranges(
        kernel.values.begin() + static_cast<std::ptrdiff_t>(i * filters),
        kernel.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * filters),
        kernel.values.begin() + static_cast<std::ptrdiff_t>((places - 1 - i) * filters));
  }
}

/// Arrays next to each other along the last axis.
Stored concatenated(const std::vector<const Stored*>& parts) {
  Stored whole{parts.front()->path, parts.front()->shape, {}};
  whole.shape.back() = 0;
  for (const Stored* part : parts) whole.shape.back() += part->shape.back();
  const std::int64_t rows = element_count({whole.shape.begin(), whole.shape.end() - 1});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const Stored* part : parts) {
      const auto begin = part->values.begin() + row * part->shape.back();
      whole.values.insert(whole.values.end(), begin, begin + part->shape.back());
    }
  }
  return whole;
}

bool is_convolution(const std::string& class_name) {
  return class_name.find("Conv") != std::string::npos;
}

/// Gates of Keras 1 for each of today's, in today's order (keras/engine/topology.py of Keras 2.0:
/// preprocess_weights_for_loading); empty for other layers.
std::vector<std::size_t> old_gates(const std::string& class_name) {
  if (class_name == "LSTM") return {0, 2, 1, 3};  // i, c, f, o -> i, f, c, o
  if (class_name == "GRU") return {0, 1, 2};
  return {};
}

}  // namespace

int KerasModel::major_version() const {
  int major = 0;
  for (const char c : version) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || major > 1000) break;
    major = 10 * major + (c - '0');
  }
  return major == 0 ? 1 : major;
}

std::vector<KerasLayer> keras_chain(const KerasModel& model) { return Chain(model).layers(); }

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

namespace {

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

struct KerasModelFile::Content {
  Hdf5File file;
  std::string root;                 ///< of the layers' groups in an .h5 file: "/model_weights/"
  std::vector<std::string> layers;  ///< layer_names; empty in files of the .keras layout
  bool by_folder = false;           ///< variables lie in the folders of the .keras layout

  /// Those that have arrays.
  std::vector<StoredLayer> stored_layers(const KerasModel& model,
                                         const ResolvedProgram& program) const {
    std::vector<StoredLayer> result;
    std::vector<bool> statistics;  // of each Normalization layer: are they variables?
    for (const ResolvedLayer& layer : program.layers) {
      if (find_layer(layer.class_name)->adapts_to_data)
        statistics.push_back(!layer.weights.empty());
    }
    std::size_t next = 0;  // of these
    if (by_folder) {
      std::vector<KerasLayer> chain;
      if (model.model.is_null()) {  // weights alone: the program says which layers there are
        require_one_model(model.file);
        FolderNames names;
        for (const ResolvedLayer& layer : program.layers) {
          chain.push_back({nullptr, "", "layers/" + names.next(layer.class_name), Json()});
        }
      } else {
        chain = keras_chain(model);
      }
      for (const KerasLayer& layer : chain) {
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

  /// Those of the layer with this folder: its own, those of a recurrent layer's cell, or those of
  /// the layers that a wrapper runs.
  std::vector<std::string> layer_variables(const std::string& folder, int depth = 0) const {
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

  /// Where weights of models in a model lie, the program of the whole doesn't say.
  void require_one_model(const std::string& path) const {
    for (const std::string& layer : file.list("/layers")) {
      if (!file.has("/layers/" + layer + "/layers")) continue;
      throw input_error(
          describe(path, "/layers/" + layer, "weights of a model in the model",
                   "weights without such; or the model instead of its program, as to_json() writes "
                   "it: neutra evaluate MODEL.json --weights FILE"));
    }
  }

  /// Makes the statistics that adapt() left in the file arguments of their layers, so that the
  /// model alone says what it computes. `folder`: of the model's variables in files of the .keras
  /// layout.
  void adopt_statistics(Json& model, const std::string& folder) const {
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

  /// "GROUP/0", "GROUP/1", ...
  std::vector<std::string> variables(const std::string& group) const {
    std::vector<std::string> paths;
    if (!file.has(group)) return paths;
    while (file.has(group + "/" + std::to_string(paths.size()))) {
      paths.push_back(group + "/" + std::to_string(paths.size()));
    }
    return paths;
  }
};

KerasModelFile::KerasModelFile(const fs::path& path) {
  model_.file = path.string();
  std::error_code ignored;
  const auto fail = [&](const std::string& found, const std::string& more = "") {
    throw input_error(describe(model_.file, "", found, "a Keras model: .h5, .hdf5, .keras" + more));
  };
  if (!fs::exists(path, ignored)) throw input_error(model_.file + ": there is no such file");
  if (fs::is_directory(path, ignored)) {
    fail("a folder", fs::exists(path / "saved_model.pb", ignored)
                         ? "; a SavedModel holds graphs: save the model as .keras"
                         : "");
  }
  require_no_pipe(path, "a Keras model: .h5, .hdf5, .keras");
  const std::string start = start_of_file(path, kHdf5Start.size());
  if (start == kHdf5Start) {
    content_.reset(new Content{Hdf5File::open(path), "/", {}, false});
  } else if (start.starts_with(kZipStart)) {
    const ZipFile zip(path, "a .keras file");
    if (!zip.has("config.json")) {
      fail("a zip file without config.json",
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
    if (zip.has("model.weights.h5")) {
      content_.reset(new Content{Hdf5File::open_image(zip.read("model.weights.h5", kLargestWeights),
                                                      model_.file + ": model.weights.h5"),
                                 "/",
                                 {},
                                 true});
      content_->adopt_statistics(model_.model, "");
    }
    return;
  } else if (is_keras_json(path)) {
    model_.model = read_json(path);
    model_.version = text_of(model_.model, "keras_version");
    model_.backend = text_of(model_.model, "backend");
    // Keras 3 writes no version, and the modules of classes, which Keras 2 names in layers alone.
    if (model_.version.empty() && model_.model.contains("module")) model_.version = "3";
    model_.training = value_of(model_.model, "compile_config");
    if (model_.training.empty()) model_.training = Json();
    return;
  } else {
    fail(kind_of_file(path), ", the JSON of to_json()");
  }
  const Hdf5File& file = content_->file;
  model_.model = json_attribute(file, "model_config", model_.file);
  model_.training = json_attribute(file, "training_config", model_.file);
  if (file.has("/model_weights")) content_->root = "/model_weights/";
  const std::string group = content_->root == "/" ? "/" : "/model_weights";
  for (const char* name : {"keras_version", "backend"}) {
    std::string& text = name == std::string_view("backend") ? model_.backend : model_.version;
    for (const std::string& place : {std::string("/"), group}) {
      if (text.empty() && file.has_attribute(place, name)) {
        text = file.read_string_attribute(place, name);
      }
    }
  }
  content_->layers = split_attribute(file, group, "layer_names");
  content_->by_folder = content_->layers.empty() && group == "/" && file.has("/layers");
  content_->adopt_statistics(model_.model, "");
  if (model_.model.is_null() && content_->layers.empty() && !content_->by_folder) {
    fail("an HDF5 file without model_config, layer_names and layers");
  }
}

KerasModelFile::KerasModelFile(KerasModelFile&&) noexcept = default;
KerasModelFile::~KerasModelFile() = default;

ModelWeights KerasModelFile::weights(const ResolvedProgram& program,
                                     const KerasModel* structure) const {
  const auto fail = [&](const std::string& place, const std::string& found,
                        const std::string& allowed) {
    throw input_error(describe(model_.file, place, found, allowed));
  };
  if (content_ == nullptr) {
    fail("", "a model without weights",
         "a file with weights; those of a model's JSON lie in a file of their own: --weights");
  }
  const bool alone = model_.model.is_null() && structure != nullptr;
  const auto extents = [&](const std::string& path) {
    const std::vector<std::uint64_t> file = content_->file.extents(path);
    Shape shape;
    for (const std::uint64_t extent : file) {
      if (extent > static_cast<std::uint64_t>(kMaxElements)) {
        fail(path, "an extent of " + std::to_string(extent),
             "at most " + std::to_string(kMaxElements));
      }
      shape.push_back(static_cast<std::int64_t>(extent));
    }
    return shape;
  };
  const auto read = [&](const std::string& path) {
    Stored stored{path, extents(path), {}};
    const auto count = static_cast<std::uint64_t>(element_count(stored.shape));
    if (count > content_->file.stored_bytes(path) * kMaxInflation) {
      fail(path, "extents " + to_string(stored.shape) + " without so many values", "an array");
    }
    stored.values = content_->file.read_floats(path, static_cast<std::uint64_t>(kMaxElements));
    return stored;
  };

  ModelWeights result(program.layers.size());
  std::vector<std::size_t> weighted;  // positions of layers with weights
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    result[i].resize(program.layers[i].weights.size());
    if (!result[i].empty()) weighted.push_back(i);
  }
  const auto layer_title = [&](std::size_t position) {
    return "layer " + std::to_string(program.layers[position].index) + " (" +
           program.layers[position].class_name + ")";
  };
  const auto put = [&](std::size_t position, std::size_t k, Stored stored) {
    const ResolvedLayer& layer = program.layers[position];
    const Weight& weight = layer.weights[k];
    if (stored.shape != weight.shape) {
      fail(stored.path, to_string(stored.shape),
           to_string(weight.shape) + ", the " + weight.name + " of " + layer_title(position) +
               " of the program");
    }
    result[position][k] = std::move(stored.values);
  };
  /// An array in today's layout. It is read only where it can be of the right size.
  const auto modern = [&](std::size_t position, std::size_t k, const std::string& path) {
    const ResolvedLayer& layer = program.layers[position];
    const Weight& weight = layer.weights[k];
    const Shape shape = extents(path);
    if (element_count(shape) != element_count(weight.shape)) {
      put(position, k, {path, shape, {}});  // says what is wrong
    }
    Stored stored = read(path);
    std::string worker = layer.class_name;  // what a wrapper runs
    for (std::vector<ResolvedLayer> inner = wrapped_layers(layer); !inner.empty();) {
      worker = inner.front().class_name;
      inner = wrapped_layers(ResolvedLayer(inner.front()));
    }
    if (k == 0 && is_convolution(worker)) {
      const bool old = model_.major_version() == 1;
      if (old && layer.class_name == "Conv1D" && shape.size() == 4) {
        // Keras 1.1: (filters, channels, length, 1); Keras 1.2: (length, 1, channels, filters)
        if (shape != Shape{weight.shape[0], 1, weight.shape[1], weight.shape[2]}) {
          transpose(stored, {2, 3, 1, 0});
        }
        if (stored.shape != Shape{weight.shape[0], 1, weight.shape[1], weight.shape[2]}) {
          stored.shape = shape;
        } else {
          stored.shape.erase(stored.shape.begin() + 1);
        }
      }
      if (model_.backend == "theano" && stored.shape == weight.shape) flip_kernel(stored);
    }
    return stored;
  };

  std::size_t at = 0;  // in weighted
  for (const StoredLayer& stored : content_->stored_layers(alone ? *structure : model_, program)) {
    if (at == weighted.size()) {
      fail("", "weights of the layer '" + stored.name + "'",
           "those of the " + std::to_string(weighted.size()) +
               " layers with weights that the program has");
    }
    const std::size_t first = weighted[at];
    const std::vector<std::size_t> gates = old_gates(program.layers[first].class_name);
    if (!gates.empty() && stored.arrays.size() == 3 * gates.size() && result[first].size() == 3) {
      for (std::size_t k = 0; k < 3; ++k) {
        const std::int64_t wanted = element_count(program.layers[first].weights[k].shape);
        std::vector<Stored> parts;
        for (const std::size_t gate : gates) {
          const std::string& path = stored.arrays[3 * gate + k];
          if (element_count(extents(path)) > wanted) fail(path, to_string(extents(path)), "a gate");
          parts.push_back(read(path));
          if (parts.back().shape != parts.front().shape || parts.back().shape.empty()) {
            fail(path, to_string(parts.back().shape), "gates of one shape");
          }
        }
        std::vector<const Stored*> pointers;
        for (const Stored& part : parts) pointers.push_back(&part);
        put(first, k, concatenated(pointers));
      }
      ++at;
      continue;
    }
    // A model in the model has the weights of several layers: first all that are trained, then
    // the others (Layer.weights).
    std::size_t end = at, count = 0;
    while (end < weighted.size() && count < stored.arrays.size()) {
      count += result[weighted[end++]].size();
    }
    if (count != stored.arrays.size()) {
      fail("layer '" + stored.name + "'", std::to_string(stored.arrays.size()) + " arrays",
           std::to_string(result[first].size()) + " for " + layer_title(first) +
               " of the program, or as many as that one and some behind it have");
    }
    std::size_t array = 0;
    for (const bool trained : {true, false}) {
      for (std::size_t i = at; i < end; ++i) {
        const ResolvedLayer& layer = program.layers[weighted[i]];
        const bool layer_trains = end - at == 1 || layer.config.value("trainable", true);
        for (std::size_t k = 0; k < layer.weights.size(); ++k) {
          const bool trains =
              layer_trains &&
              (end - at == 1 ||
               variable_settings(layer.config, layer.weights[k]).value("trainable", true));
          if ((layer.weights[k].trainable && trains) != trained) continue;
          put(weighted[i], k, modern(weighted[i], k, stored.arrays[array++]));
        }
      }
    }
    at = end;
  }
  if (at < weighted.size()) {
    fail("", "no weights for " + layer_title(weighted[at]) + " of the program",
         "a file with the weights of all layers");
  }
  return result;
}

}  // namespace neutra::program
