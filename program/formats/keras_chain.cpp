#include "program/formats/keras_chain.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "program/document.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_json.h"

namespace neutra::program {
namespace {

constexpr std::size_t kMostLayers = 1000;  ///< as a program may have

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
        fail(layer_title(layer.name, text_of(*layer.json, "class_name")), "no input",
             "models that are chains of layers");
      }
      if (!by_name.contains(source)) {
        fail(layer_title(layer.name, text_of(*layer.json, "class_name")),
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
    const std::string place = layer_title(layer.name, text_of(*layer.json, "class_name"));
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
         "the mask that " + layer_title(layer.name, class_name) +
             " makes, where its input is not " + shown(value) + ": call the layer without mask");
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

}  // namespace

int KerasModel::major_version() const {
  int major = 0;
  for (const char c : version) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || major > 1000) break;
    major = 10 * major + (c - '0');
  }
  return major == 0 ? 1 : major;
}

bool KerasModel::is_standalone() const {
  if (version.find("-tf") != std::string::npos) return false;
  return major_version() < 2 || version.starts_with("2.0.") || version.starts_with("2.1.") ||
         version.starts_with("2.2.") || version.starts_with("2.3.");
}

std::string FolderNames::next(const std::string& class_name) {
  const std::string name = keras_snake_case(class_name);
  const int before = used_[name]++;
  return before == 0 ? name : name + "_" + std::to_string(before);
}

std::vector<KerasLayer> keras_chain(const KerasModel& model) { return Chain(model).layers(); }

}  // namespace neutra::program
