#include "program/formats/keras_layers.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "program/document.h"
#include "program/formats/keras_graph.h"
#include "program/formats/keras_json.h"
#include "program/formats/keras_operations.h"

namespace neutra::program {
namespace {

constexpr std::size_t kMostLayers = 1000;  ///< as a program may have

/// One input of a call: another call of a layer.
struct Source {
  std::string layer;
  std::size_t node = 0;  ///< which of its calls, from 0
};

/// One call of a layer of a functional model.
struct Node {
  std::size_t layer = 0;  ///< in the file's order
  std::size_t index = 0;  ///< which of its calls
  std::vector<Source> sources;
  Json training;
  KerasOperation operation;
};

/// Follows a model from its input to its output.
class Walk {
 public:
  explicit Walk(const KerasModel& model)
      : file_(model.file), calls_rule_(model.major_version() < 3) {
    add_model(model.model, {}, "", "", Json());
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
  static std::string title_of(const KerasLayer& layer) {
    return layer_title(layer.name, text_of(*layer.json, "class_name"));
  }

  /// Adds a model's calls. `inputs`: the call that gives its input; none: it is the whole model, or
  /// its first layer. `training`: of the model's call. Returns the call that gives its output.
  std::vector<std::size_t> add_model(const Json& model, std::vector<std::size_t> inputs,
                                     const std::string& folder, const std::string& scope,
                                     const Json& training) {
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
      own.push_back({&layer, layer_name, folder + "layers/" + names.next(layer_class), training,
                     nullptr, scope});
    }
    if (is_functional(class_name)) return add_functional(std::move(own), config, inputs, place);
    for (const KerasLayer& layer : own) inputs = add_layer(layer, inputs, place);
    return inputs;
  }

  /// Adds a call of a layer, or of a model in the model. Returns what gives its output.
  std::vector<std::size_t> add_layer(KerasLayer layer, std::vector<std::size_t> inputs,
                                     const std::string& place) {
    const std::string layer_class = text_of(*layer.json, "class_name");
    if (is_model(layer_class)) {
      if (inputs.size() > 1) fail(title_of(layer), several(inputs.size()), "models of one input");
      return add_model(*layer.json, std::move(inputs), layer.folder + "/",
                       layer.scope + layer.name + "/", layer.training);
    }
    if (const Json& run = value_of(value_of(*layer.json, "config"), "layer");
        layer_class == "TimeDistributed" && is_model(text_of(run, "class_name"))) {
      return add_distributed(layer, run, std::move(inputs));
    }
    if (layer_class == "InputLayer" && !layers_.empty()) return inputs;
    const auto [first, fresh] = calls_.emplace(layer.json, layers_.size());
    if (!fresh) layer.call_of = first->second;
    layer.inputs = std::move(inputs);
    layers_.push_back(std::move(layer));
    if (layers_.size() > kMostLayers) {
      fail(place, "more than " + std::to_string(kMostLayers) + " layers",
           "at most " + std::to_string(kMostLayers));
    }
    return {layers_.size() - 1};
  }

  static std::string several(std::size_t count) { return std::to_string(count) + " inputs"; }

  /// A model on each step is each of its layers on each step.
  std::vector<std::size_t> add_distributed(const KerasLayer& wrapper, const Json& model,
                                           std::vector<std::size_t> inputs) {
    const std::size_t before = layers_.size();
    std::vector<std::size_t> output =
        add_model(model, std::move(inputs), wrapper.folder + "/layer/",
                  wrapper.scope + wrapper.name + "/", wrapper.training);
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
      if (layer.inputs.size() > 1) {
        fail(title_of(layer),
             several(layer.inputs.size()) + " in a model that TimeDistributed runs",
             "layers of one input there");
      }
      layer.made = std::make_shared<const Json>(
          Json{{"class_name", "TimeDistributed"}, {"config", std::move(config)}});
      layer.json = layer.made.get();
    }
    // An input without steps.
    if (before == 0 && !layers_.empty() &&
        text_of(*layers_.front().json, "class_name") == "InputLayer") {
      drop_first();
      for (std::size_t& position : output) --position;
    }
    return output;
  }

  /// Leaves the first call out, an input.
  void drop_first() {
    layers_.erase(layers_.begin());
    for (KerasLayer& layer : layers_) {
      if (layer.call_of) --*layer.call_of;
      if (layer.inputs == std::vector<std::size_t>{0}) {
        layer.inputs.clear();
      } else {
        for (std::size_t& input : layer.inputs) --input;
      }
    }
    for (auto& [json, position] : calls_) position -= position > 0 ? 1 : 0;
  }

  std::vector<std::size_t> add_functional(std::vector<KerasLayer> layers, const Json& config,
                                          const std::vector<std::size_t>& inputs,
                                          const std::string& place) {
    Masks masks;
    if (!calls_rule_) masks = take_masks(layers);
    const Source input = only_end(config, "input_layers", place);
    Source output = only_end(config, "output_layers", place);
    std::map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!by_name.emplace(layers[i].name, i).second) {
        fail(place, "two layers of the name '" + layers[i].name + "'", "names of their own");
      }
    }
    std::vector<Node> nodes = nodes_of(layers, by_name, input, masks);
    if (!by_name.contains(input.layer))
      fail(place, "no layer '" + input.layer + "', its input", "");
    count_calls(layers, nodes, output);
    check_masks(layers, nodes, masks);
    check_ends(layers, nodes, output, place);
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> outputs;
    while (!nodes.empty()) {
      const auto place_of = [&](const Source& source) {
        return outputs.find({by_name.at(source.layer), source.node});
      };
      const auto ready = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) {
        return std::all_of(node.sources.begin(), node.sources.end(),
                           [&](const Source& each) { return place_of(each) != outputs.end(); });
      });
      if (ready == nodes.end()) fail(place, "a loop of layers", "layers without loops");
      std::vector<std::size_t> from;
      for (const Source& source : ready->sources) {
        from.insert(from.end(), place_of(source)->second.begin(), place_of(source)->second.end());
      }
      KerasLayer layer = layers[ready->layer];
      if (!ready->operation.kind.empty()) {
        const auto made = layer_for(ready->operation, layer.name, ready->sources.size());
        if (!made) {
          fail(title_of(layer), "an operation on tensors",
               "x + 1, 1 - x, 2 * x, x / 2 and -x, sums, differences and products of two outputs");
        }
        layer.made = std::make_shared<const Json>(*made);
        layer.json = layer.made.get();
      }
      if (!ready->training.is_null()) layer.training = ready->training;
      outputs[{ready->layer, ready->index}] =
          add_layer(std::move(layer), ready->sources.empty() ? inputs : from, place);
      nodes.erase(ready);
    }
    return outputs.at({by_name.at(output.layer), output.node});
  }

  /// The calls of all layers, in the order of the file.
  std::vector<Node> nodes_of(const std::vector<KerasLayer>& layers,
                             const std::map<std::string, std::size_t>& by_name, const Source& input,
                             Masks& masks) const {
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const KerasLayer& layer = layers[i];
      const std::string place = title_of(layer);
      const Json& stored = value_of(*layer.json, "inbound_nodes");
      if (!stored.is_array() || stored.empty()) {
        if (layer.name != input.layer) fail(place, "no input", "layers behind the model's input");
        nodes.push_back({i, 0, {}, {}, {}});
        continue;
      }
      for (std::size_t n = 0; n < stored.size(); ++n) {
        Node node{i, n, {}, {}, operation_of(*layer.json)};
        take_sources(stored[n], node, place, masks);
        for (const Source& source : node.sources) {
          if (by_name.contains(source.layer)) continue;
          fail(place, "an input '" + source.layer + "', which is no layer", "the name of a layer");
        }
        nodes.push_back(std::move(node));
      }
    }
    return nodes;
  }

  /// Keras 2 counts the calls of a model in the model from 1: its own making is call 0. Whatever
  /// the number, it is the one call of a layer that has one.
  static void count_calls(const std::vector<KerasLayer>& layers, std::vector<Node>& nodes,
                          Source& output) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      std::vector<Source*> uses;
      if (output.layer == layers[i].name) uses.push_back(&output);
      for (Node& node : nodes) {
        for (Source& source : node.sources) {
          if (source.layer == layers[i].name) uses.push_back(&source);
        }
      }
      const bool once = std::count_if(nodes.begin(), nodes.end(),
                                      [&](const Node& node) { return node.layer == i; }) == 1;
      const bool from_one =
          is_model(text_of(*layers[i].json, "class_name")) &&
          std::all_of(uses.begin(), uses.end(), [](const Source* use) { return use->node > 0; });
      for (Source* use : uses) use->node = once ? 0 : use->node - (from_one ? 1 : 0);
    }
  }

  /// All calls but that of the output have some that take theirs.
  void check_ends(const std::vector<KerasLayer>& layers, const std::vector<Node>& nodes,
                  const Source& output, const std::string& place) const {
    std::set<std::pair<std::string, std::size_t>> taken{{output.layer, output.node}};
    for (const Node& node : nodes) {
      for (const Source& source : node.sources) taken.emplace(source.layer, source.node);
    }
    bool has_output = false;
    for (const Node& node : nodes) {
      const std::string& name = layers[node.layer].name;
      has_output = has_output || (name == output.layer && node.index == output.node);
      if (!taken.contains({name, node.index})) {
        fail(title_of(layers[node.layer]), "an output that goes nowhere",
             "layers that lead to the model's output");
      }
    }
    if (!has_output) fail(place, "no layer '" + output.layer + "', its output", "");
  }

  /// The masks that calls are given are those that the layers before make.
  void check_masks(const std::vector<KerasLayer>& layers, const std::vector<Node>& nodes,
                   const Masks& masks) const {
    for (const Masks::Use& use : masks.used) {
      const KerasLayer* maker = nullptr;
      for (const Node& node : nodes) {
        const KerasLayer& layer = layers[node.layer];
        if (node.sources.size() == 1 && node.sources[0].layer == use.root && makes_mask(layer)) {
          maker = &layer;
        }
      }
      if (maker == nullptr)
        fail(use.place, "a mask of its own", "masks that Masking or Embedding makes");
      require_mask_of(*maker, use);
    }
  }

  /// The one call at an end: [["name", 0, 0]], or ["name", 0, 0] in Keras 3.
  Source only_end(const Json& config, const char* field, const std::string& place) const {
    const Json& ends = value_of(config, field);
    const Json* end = &ends;
    if (ends.is_array() && ends.size() == 1 && ends.front().is_array()) end = &ends.front();
    if (const auto source = source_of(*end)) return *source;
    fail(place, std::string(field) + " " + shown(ends),
         "one layer: models with one input and one output");
  }

  /// ["name", call, 0], with more behind it in calls.
  static std::optional<Source> source_of(const Json& json) {
    if (!json.is_array() || json.empty() || !json.front().is_string()) return std::nullopt;
    Source source{json.front(), 0};
    if (json.size() > 1 && json[1].is_number_unsigned()) source.node = json[1];
    if (json.size() > 2 && json[2].is_number() && json[2] != 0) return std::nullopt;
    return source;
  }

  /// What a call takes, and with what arguments.
  void take_sources(const Json& stored, Node& node, const std::string& place, Masks& masks) const {
    const char* const kTensors = "outputs of layers, each of one output";
    if (stored.is_object()) {  // Keras 3: {args: [tensor], kwargs}
      const Json& arguments = value_of(stored, "args");
      if (!arguments.is_array() || arguments.empty()) fail(place, shown(arguments), kTensors);
      const bool list = arguments.front().is_array();
      if (list && arguments.size() > 1) fail(place, shown(arguments), kTensors);
      note_arguments(value_of(stored, "kwargs"), node, place, masks);
      for (const Json& tensor : list ? arguments.front() : arguments) {
        if (take_constant(node.operation, tensor, node.sources.empty())) continue;
        const auto source = source_of(value_of(value_of(tensor, "config"), "keras_history"));
        if (!source) fail(place, shown(tensor), kTensors);
        node.sources.push_back(*source);
      }
      if (node.sources.empty()) fail(place, shown(stored), kTensors);
      return;
    }
    // Keras 1 and 2: [[name, node, tensor, arguments], ...], or without the inner brackets
    const bool bare = stored.is_array() && !stored.empty() && !stored.front().is_array();
    for (const Json& tensor : bare ? Json::array({stored}) : stored) {
      if (tensor.is_array() && tensor.size() > 3 && tensor.front() == "_CONSTANT_VALUE" &&
          take_constant(node.operation, tensor[2], true)) {
        note_arguments(tensor[3], node, place, masks);
        continue;
      }
      const auto source = source_of(tensor);
      if (!source || tensor.size() < 3) fail(place, shown(tensor), kTensors);
      node.sources.push_back(*source);
      if (tensor.size() > 3) note_arguments(tensor[3], node, place, masks);
    }
    if (node.sources.empty()) fail(place, shown(stored), kTensors);
  }

  /// The layer that a tensor of Keras 3 comes from; "" for what is no tensor.
  static std::string maker_of(const Json& tensor) {
    const Json& history = value_of(value_of(tensor, "config"), "keras_history");
    return history.is_array() && !history.empty() && history.front().is_string()
               ? history.front().get<std::string>()
               : "";
  }

  /// Keras 3 writes the masks down that Masking and Embedding make, as operations beside the layers
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

  void note_arguments(const Json& arguments, Node& node, const std::string& place,
                      Masks& masks) const {
    if (!arguments.is_object()) return;
    for (const auto& [key, value] : arguments.items()) {
      if (value.is_null()) continue;
      if (!node.operation.kind.empty() && key == "y") {
        if (take_constant(node.operation, value, false)) continue;
        if (const auto source = source_of(value)) {
          node.sources.push_back(*source);
          continue;
        }
      }
      if (node.operation.kind == "Concatenate" && key == "axis") {
        node.operation.axis = value;
        continue;
      }
      if (key == "training" && value.is_boolean()) {
        if (calls_rule_) node.training = value;
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
           "calls with inputs alone, or with training");
    }
  }

  const std::string& file_;
  bool calls_rule_;  ///< a call's `training` holds whatever the model does: before Keras 3
  std::vector<KerasLayer> layers_;
  std::map<const Json*, std::size_t> calls_;  ///< of each layer, the first
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

std::vector<KerasLayer> keras_layers(const KerasModel& model) { return Walk(model).layers(); }

bool is_chain(const std::vector<KerasLayer>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::vector<std::size_t>& inputs = layers[i].inputs;
    const bool follows = i == 0 ? inputs.empty() : inputs == std::vector<std::size_t>{i - 1};
    if (layers[i].call_of || !follows) return false;
  }
  return true;
}

}  // namespace neutra::program
