#include "program/formats/layer_import.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "program/document.h"
#include "program/formats/keras_json.h"
#include "program/formats/keras_versions.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/normal.h"

namespace neutra::program {
namespace {

class LayerImport {
 public:
  explicit LayerImport(ImportNotes& notes) : notes_(notes) {}

  void add(const KerasLayer& layer, bool first, Json& layers) {
    const Json& json = *layer.json;
    const std::string class_name = new_class(text_of(json, "class_name"));
    const std::string place = layer_title(layer.name, class_name);
    const Layer* type = known_type(json, class_name, place);
    if (type == nullptr) return;
    Json config = Json::object();
    Json behind = Json::array();  // what becomes layers of their own
    if (!layer.name.empty()) config["name"] = layer.name;
    const Json& stored = value_of(json, "config");
    if (!stored.is_object()) return notes_.refuse(place, "config " + shown(stored), "an object");
    add_settings(*type, stored, place, first, config, behind);
    note_call(layer.training, type->class_name, place, config);
    // Later versions, and exports, leave it out for their default alone.
    if (find_field(type->fields, "reset_after") != nullptr && notes_.model.is_standalone() &&
        !config.contains("reset_after")) {
      config["reset_after"] = false;  // as before there was a choice
    }
    drop_usual_backward_layer(*type, config);
    // Keras writes the default of a pooling's strides out.
    const Json& window = value_of(config, "pool_size");
    if (!window.is_null() && value_of(config, "strides") == window) config.erase("strides");
    if (!behind.empty()) {
      const std::string own = text_of(behind.front(), "class_name");
      if (type->kind == LayerKind::kRecurrent) {
        return notes_.refuse(place, own + " as an activation", words_of_activations());
      }
      if (!value_of(config, "activity_regularizer").is_null()) {
        return notes_.refuse(place, "activity_regularizer in front of " + own, "null");
      }
      notes_.assume("model", own + " behind " + place,
                    "a layer of its own: those behind it count one more");
    }
    if (type->kind != LayerKind::kActivation || behind.empty()) {
      layers.push_back({{"class_name", type->class_name}, {"config", std::move(config)}});
      titles_.push_back(place);
    }
    for (Json& each : behind) {
      layers.push_back(std::move(each));
      titles_.push_back(place);
    }
  }

  /// Where the layers of the program are from, for messages.
  std::vector<std::string>& titles() { return titles_; }
  /// The batch size that the model declares; null for none.
  const Json& batch_size() const { return batch_size_; }

 private:
  /// The class of a layer; nullptr, and a problem, for what is no layer that neutra knows.
  const Layer* known_type(const Json& json, const std::string& class_name,
                          const std::string& place) {
    const auto refuse = [&](const std::string& found, const std::string& allowed) {
      notes_.refuse(place, found, allowed);
      return nullptr;
    };
    if (class_name == "Lambda" || class_name.ends_with("OpLambda")) {
      return refuse("Python code", "layers that are no code");
    }
    if (is_custom(json)) {
      return refuse(shown(value_of(json, "registered_name")) + ", a class of its own",
                    "Keras's layers");
    }
    if (json.contains("config") && (class_name == "Sequential" || class_name == "Functional")) {
      return refuse("a model in a wrapper", "a wrapper around each of its layers");
    }
    const Layer* type = find_layer(class_name);
    if (type != nullptr) return type;
    std::vector<std::string> known;
    for (const Layer* each : program::layers()) known.push_back(each->class_name);
    const std::vector<std::string> close = nearest_few(class_name, known);
    return refuse("a layer class that neutra doesn't know",
                  "those of docs/formats/program.md" +
                      (close.empty() ? "" : " (did you mean " + close.back() + "?)"));
  }

  /// The stored settings of a layer as a config, and what becomes layers behind it.
  void add_settings(const Layer& type, const Json& stored, const std::string& place, bool first,
                    Json& config, Json& behind) {
    std::vector<Field> fields = type.fields;
    const std::vector<Field>& common = section_fields("layer_config");
    fields.insert(fields.end(), common.begin(), common.end());
    add_kernel_size(stored, config);
    for (const auto& [key, value] : stored.items()) {
      if (key == "name") continue;
      if ((key == "nb_row" || key == "nb_col") && config.contains("kernel_size")) continue;
      const Field* field = find_field(fields, key);
      if (field == nullptr) field = find_field(fields, new_name(type.class_name, key));
      if (field == nullptr) {
        if (value.is_null() || is_off("layer", key, value)) continue;
        if (key == "forget_bias_init") {
          config["unit_forget_bias"] = value == "one";
          continue;
        }
        notes_.refuse(place, key + " = " + shown(value), known_values("layer", key));
        continue;
      }
      if (field->type == FieldType::kIgnored) continue;
      if (field->type == FieldType::kActivation) {
        if (Json own = activation_layer(value, place + ": " + key); !own.is_null()) {
          behind.push_back(std::move(own));
          continue;
        }
      }
      if (key == "keepdims" && value == true) {
        // Global poolings leave the channels alone: their other extents are 1.
        const Json shape = type.class_name.ends_with("2D") ? Json{1, 1, -1} : Json{1, -1};
        behind.push_back({{"class_name", "Reshape"}, {"config", {{"target_shape", shape}}}});
        continue;
      }
      add_setting(*field, value, place, type, first, config);
    }
  }

  static std::string words_of_activations() { return join(words(Vocabulary::kActivation)); }

  /// An activation that a program has as a layer alone, as that layer: a layer in the place of a
  /// word, or a word for such. Null for others, and for what is no activation.
  Json activation_layer(const Json& value, const std::string& place) {
    const Json* word = &value;
    if (value.is_object() && text_of(value, "class_name") == "function") {
      word = &value_of(value, "config");
    }
    if (word->is_string()) {
      return value_of(keras_history()["activation_layers"], word->get<std::string>());
    }
    const std::string class_name = text_of(value, "class_name");
    const Layer* type = is_custom(value) ? nullptr : find_layer(new_class(class_name));
    if (type == nullptr || type->weights != nullptr || !is_activation(*type)) return {};
    Json layers = Json::array();
    const std::size_t before = notes_.problems.size(), titles = titles_.size();
    const Json unnamed = {{"class_name", class_name}, {"config", value_of(value, "config")}};
    add({&unnamed, "", "", Json()}, false, layers);
    titles_.resize(titles);
    for (std::size_t i = before; i < notes_.problems.size(); ++i) {
      notes_.problems[i] =
          describe(notes_.model.file, place, class_name + " " + shown(unnamed["config"]),
                   words_of_activations());
    }
    if (layers.empty()) return {};
    layers.front()["config"].erase("name");
    return layers.front();
  }

  /// Does the layer nothing but an activation?
  static bool is_activation(const Layer& type) {
    const Json& classes = keras_history()["layers_of_activations"];
    return std::find(classes.begin(), classes.end(), type.class_name) != classes.end();
  }

  /// A call's `training` that isn't the model's: what a layer does in training alone is off, or
  /// never off.
  void note_call(const Json& training, const std::string& class_name, const std::string& place,
                 Json& config) {
    if (!training.is_boolean()) return;
    const bool on = training.get<bool>();
    const std::string call = std::string("called with training = ") + (on ? "true" : "false");
    const Layer* type = find_layer(class_name);
    if (type != nullptr && type->updates_statistics) {
      if (on) {
        notes_.refuse(place, call + ", so that a prediction depends on its batch", "calls without");
      } else if (value_of(config, "trainable") != false) {
        notes_.refuse(place, call + ", while its gamma and beta are trained",
                      "trainable = false, which keeps its averages, too; or calls without");
      }
      return;
    }
    for (const Json& field : keras_history()["in_training"]) {
      const std::string name = field;
      const Json& amount = value_of(config, name);
      if (amount.is_null() || amount == 0) continue;
      if (on) {
        notes_.refuse(place, call + ", so that predictions are random",
                      "calls without, or with training = false");
      } else {
        notes_.assume("model", place + ": " + name + " = 0 instead of " + shown(amount),
                      call + ": nothing is dropped or added in training either");
        config[name] = 0;
      }
    }
    for (const char* wrapped : {"layer", "backward_layer"}) {
      if (!config.contains(wrapped) || !config[wrapped].is_object()) continue;
      note_call(training, text_of(config[wrapped], "class_name"), place, config[wrapped]["config"]);
    }
  }

  /// Keras 3 writes both layers of a Bidirectional out, also where one is the other turned.
  static void drop_usual_backward_layer(const Layer& type, Json& config) {
    if (find_field(type.fields, "backward_layer") == nullptr) return;
    std::vector<Problem> ignored;
    const Json normal = normal_value({.name = "layer", .type = FieldType::kLayer},
                                     {{"class_name", type.class_name}, {"config", config}},
                                     Defaults::kDrop, "", ignored);
    if (!value_of(normal, "config").contains("backward_layer")) config.erase("backward_layer");
    for (const char* field : {"layer", "backward_layer"}) {  // Bidirectional sets it itself
      if (config.contains(field) && config[field].contains("config")) {
        config[field]["config"].erase("zero_output_for_mask");
      }
    }
  }

  /// Keras 1 has the two extents of a window in fields of their own.
  static void add_kernel_size(const Json& stored, Json& config) {
    if (stored.contains("nb_row") && stored.contains("nb_col")) {
      config["kernel_size"] = {stored["nb_row"], stored["nb_col"]};
    }
  }

  void add_setting(const Field& field, const Json& value, const std::string& place,
                   const Layer& type, bool first, Json& config) {
    const std::string& name = field.name;
    switch (field.type) {
      case FieldType::kActivation: {
        const Json word = notes_.named(Vocabulary::kActivation, "layer", "activation", value,
                                       place + ": " + name);
        if (notes_.model.major_version() >= 3 && word == "hard_sigmoid") {
          notes_.refuse(place + ": " + name, "hard_sigmoid of Keras 3, relu6(x + 3) / 6",
                        "activations of Keras 2, whose hard_sigmoid is another function");
        }
        if (word.is_string() && find(Vocabulary::kActivation, word.get<std::string>()) == nullptr) {
          return notes_.refuse(place + ": " + name, shown(word), words_of_activations());
        }
        config[name] = word;
        return;
      }
      case FieldType::kInitializer:
        config[name] = notes_.named(Vocabulary::kInitializer, "layer", "initializer", value,
                                    place + ": " + name);
        return;
      case FieldType::kRegularizer:
        config[name] = value.is_null() ? value
                                       : notes_.named(Vocabulary::kRegularizer, "layer",
                                                      "regularizer", value, place + ": " + name);
        return;
      case FieldType::kConstraint:
        config[name] = value.is_null() ? value
                                       : notes_.named(Vocabulary::kConstraint, "layer",
                                                      "constraint", value, place + ": " + name);
        return;
      case FieldType::kDtype: {
        const Json& policy =
            value.is_object() ? value_of(value_of(value, "config"), "name") : value;
        if (policy.is_null() || policy == "float32") return;
        const std::string dtype = policy.is_string() ? policy.get<std::string>() : "";
        if (type.kind == LayerKind::kInput &&
            (dtype.starts_with("int") || dtype.starts_with("uint"))) {
          notes_.assume("model", dtype + " rows of " + place,
                        "rows are float32 numbers; whole ones are exact up to 2^24");
          return;
        }
        config[name] = policy;
        return;
      }
      case FieldType::kLayer: {
        if (!value.is_object()) {
          config[name] = value;  // the program's check names what is none
          return;
        }
        Json wrapped = Json::array();
        const std::size_t titles = titles_.size();
        add({&value, text_of(value_of(value, "config"), "name"), "", Json()}, false, wrapped);
        titles_.resize(titles);
        if (wrapped.size() > 1) {
          return notes_.refuse(place,
                               text_of(wrapped.back(), "class_name") + " behind the wrapped layer",
                               "a wrapper around each of both");
        }
        if (!wrapped.empty()) config[name] = std::move(wrapped.front());
        return;
      }
      case FieldType::kBatchShape:
        if (value.is_null()) return;
        config[name] = value;
        if (value.is_array() && !value.empty() && value.front().is_number_integer()) {
          config[name].front() = nullptr;
          if (first) batch_size_ = value.front();
        }
        return;
      default:
        config[name] = without_float_noise(renamed_value(name, value));
    }
  }

  ImportNotes& notes_;
  Json batch_size_;
  std::vector<std::string> titles_;
};

}  // namespace

namespace {

/// The calls of a model that is no chain.
class GraphImport {
 public:
  GraphImport(LayerImport& import, Json& layers) : import_(import), layers_(layers) {}

  void add(const std::vector<KerasLayer>& calls) {
    add_input(calls.front());
    for (const KerasLayer& call : calls) {
      std::vector<std::size_t> inputs;
      for (const std::size_t input : call.inputs) inputs.push_back(made_[input].end - 1);
      if (inputs.empty() && !layers_.empty()) inputs = {layers_.size() - 1};
      const std::size_t begin = layers_.size();
      if (call.call_of) {
        again(made_[*call.call_of]);
      } else {
        KerasLayer named = call;
        named.name.insert(0, call.scope);
        import_.add(named, layers_.empty(), layers_);
      }
      made_.push_back({begin, layers_.size()});
      for (std::size_t i = begin; i < layers_.size(); ++i) {
        wiring_.inputs.push_back(i == begin ? inputs : std::vector<std::size_t>{i - 1});
        if (!call.call_of) wiring_.weights_of.push_back(std::nullopt);
      }
      if (begin == layers_.size()) return;  // a problem: nothing behind it makes sense
    }
    rename();
    set_wiring(layers_, wiring_);
  }

 private:
  /// What became of a call: these layers of the program.
  struct Made {
    std::size_t begin, end;
  };

  /// A program whose layers name their inputs begins with one.
  void add_input(const KerasLayer& first) {
    if (text_of(*first.json, "class_name") == "InputLayer") return;
    Json config = {{"name", "input"}};
    for (const char* field : {"batch_input_shape", "batch_shape"}) {
      const Json& shape = value_of(value_of(*first.json, "config"), field);
      if (!shape.is_null()) config["batch_input_shape"] = shape;
    }
    layers_.push_back({{"class_name", "InputLayer"}, {"config", std::move(config)}});
    import_.titles().push_back("the model's input");
    wiring_.inputs.emplace_back();
    wiring_.weights_of.push_back(std::nullopt);
  }

  void again(const Made& first) {
    for (std::size_t i = first.begin; i < first.end; ++i) {
      const std::string* name = name_of(layers_[i]);
      Json call = {{"class_name", layers_[i].at("class_name")}, {"config", Json::object()}};
      if (name != nullptr) call["config"]["name"] = *name + "_again";
      layers_.push_back(std::move(call));
      import_.titles().push_back(import_.titles()[i]);
      wiring_.weights_of.push_back(i);
    }
  }

  /// No name twice.
  void rename() {
    std::set<std::string> used;
    for (Json& layer : layers_) {
      const std::string* name = name_of(layer);
      if (name == nullptr) continue;
      std::string fresh = *name;
      for (int n = 2; !used.insert(fresh).second; ++n) fresh = *name + "_" + std::to_string(n);
      layer["config"]["name"] = fresh;
    }
  }

  LayerImport& import_;
  Json& layers_;
  std::vector<Made> made_;  ///< of each call
  Wiring wiring_;
};

}  // namespace

ImportedLayers import_layers(const std::vector<KerasLayer>& calls, ImportNotes& notes) {
  LayerImport import(notes);
  ImportedLayers result;
  if (is_chain(calls)) {
    for (const KerasLayer& layer : calls) import.add(layer, result.layers.empty(), result.layers);
  } else {
    GraphImport(import, result.layers).add(calls);
  }
  result.titles = std::move(import.titles());
  result.batch_size = import.batch_size();
  return result;
}

}  // namespace neutra::program
