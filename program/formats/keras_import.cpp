#include "program/formats/keras_import.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/words.h"
#include "program/document.h"
#include "program/embedded.h"
#include "program/layer.h"
#include "program/metric_options.h"
#include "program/normal.h"
#include "program/vocabulary.h"

namespace neutra::program {
namespace {

/// Names and settings of other Keras versions: program/formats/keras_history.json.
const Json& history() {
  static const Json json = parse_json(embedded::keras_history, "keras_history.json");
  return json;
}

const Json& value_of(const Json& object, std::string_view key) {
  static const Json null;
  const Json* value = member(object, key);
  return value != nullptr ? *value : null;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json& value = value_of(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// Keras prints float32 settings as doubles (0.009999999776482582): the shortest decimal that is
/// the same float32 (0.01). Other numbers as they are.
Json without_float_noise(const Json& value) {
  if (value.is_structured()) {
    Json result = value;
    for (Json& item : result) item = without_float_noise(item);
    return result;
  }
  if (!value.is_number_float()) return value;
  const auto number = value.get<double>();
  const auto single = static_cast<float>(number);
  if (!std::isfinite(single) || static_cast<double>(single) != number) return value;
  std::array<char, 64> text;
  const char* end = std::to_chars(text.data(), text.data() + text.size(), single).ptr;
  double shortest = 0;
  std::from_chars(text.data(), end, shortest);
  return shortest;
}

/// "layer 'dense_1' (Dense)"
std::string layer_title(const std::string& name, const std::string& class_name) {
  return "layer " + (name.empty() ? "" : "'" + name + "' ") + "(" + class_name + ")";
}

/// A model becomes a program; what can't is collected.
class Importer {
 public:
  Importer(const KerasModel& model, const ImportSources& sources)
      : model_(model), sources_(sources), major_(model.major_version()) {}

  KerasImport run() {
    if (model_.model.is_null()) {
      throw input_error(describe(model_.file, "", "weights alone, without model_config",
                                 "a file of a whole model, or the JSON of to_json(); neutra "
                                 "evaluate MODEL|PROGRAM --weights FILE evaluates the weights"));
    }
    document_ = {{"format", "neutra-program"},
                 {"version", 1},
                 {"name", sources_.name},
                 {"model", Json()},
                 {"compile", Json::object()},
                 {"fit", Json::object()},
                 {"data", Json()}};
    note_version();
    const std::vector<KerasLayer> chain = keras_chain(model_);
    Json layers = Json::array();
    for (const KerasLayer& layer : chain) add_layer(layer, layers.empty(), layers);
    if (drop_input_layer(layers)) titles_.erase(titles_.begin());
    document_["model"] = {{"class_name", "Sequential"}, {"config", {{"layers", layers}}}};
    compile();
    training_options();
    fill_in_loss();
    fill_in_metric();
    fill_in_fit();
    fill_in_data();
    if (problems_.empty()) check();
    if (!problems_.empty()) throw input_error(join(problems_, "\n"));
    // Keras counts it from the front as soon as shapes are known; valid layers take the last alone.
    for (Json& layer : document_["model"]["config"]["layers"]) {
      for (Json* each = &layer; each != nullptr; each = wrapped_in(*each)) {
        Json& config = (*each)["config"];
        if (!find_layer(text_of(*each, "class_name"))->adapts_to_data) {
          config.erase("axis");
        } else if (config.value("axis", Json()) == Json::array()) {
          config["axis"] = nullptr;  // tf.keras stores an axis of null as none
        }
      }
    }
    return {std::move(document_), std::move(assumptions_)};
  }

 private:
  /// The layer that a wrapper runs; nullptr for other layers.
  static Json* wrapped_in(Json& layer) {
    Json& config = layer["config"];
    const auto wrapped = config.find("layer");
    return wrapped != config.end() && wrapped->is_object() ? &*wrapped : nullptr;
  }

  void refuse(const std::string& place, const std::string& found, const std::string& allowed) {
    problems_.push_back(describe(model_.file, place, found, allowed));
  }
  void assume(const std::string& field, const std::string& value, const std::string& reason) {
    assumptions_.push_back({field, value, reason});
  }

  /// Standalone Keras before it became tf.keras.
  bool standalone() const {
    if (model_.version.find("-tf") != std::string::npos) return false;
    return major_ < 2 || model_.version.starts_with("2.0.") || model_.version.starts_with("2.1.") ||
           model_.version.starts_with("2.2.") || model_.version.starts_with("2.3.");
  }

  void note_version() {
    if (major_ == 2 && !standalone()) return;
    assume("model", model_.version.empty() ? "Keras 1" : "Keras " + model_.version,
           "it will be trained as tf.keras 2.4 trains; other versions differ in details of "
           "optimisers and of the metric accuracy");
  }

  // ---- names and settings of other versions

  /// Is `value` one that the table lists as being without effect?
  static bool is_off(const std::string& family, const std::string& key, const Json& value) {
    const Json& without_effect = value_of(history()["without_effect"], family);
    if (std::find(without_effect.begin(), without_effect.end(), key) != without_effect.end()) {
      return true;
    }
    const Json& off = value_of(value_of(history()["off"], family), key);
    return std::any_of(off.begin(), off.end(),
                       [&](const Json& each) { return normal_number(value) == each; });
  }

  static const Json& renamed_value(const std::string& kind, const Json& value) {
    if (!value.is_string()) return value;
    const Json& known = value_of(value_of(history()["values"], kind), value.get<std::string>());
    return known.is_null() ? value : known;
  }

  /// Classes of the user's own have a package before their name: "Custom>MyDense".
  static bool is_custom(const Json& object) {
    return text_of(object, "registered_name").find('>') != std::string::npos;
  }

  /// A word or {class_name, config} of a vocabulary, without what says nothing about it.
  Json named(Vocabulary vocabulary, const std::string& family, const std::string& kind,
             const Json& value, const std::string& place) {
    if (!value.is_object()) return renamed_value(kind, value);
    if (is_custom(value) && family != "optimizer") {
      refuse(place, shown(value_of(value, "registered_name")) + ", a class of its own",
             "Keras's classes");
      return value;
    }
    const Json& config = value_of(value, "config");
    // Functions in Keras 3: {"module": "builtins", "class_name": "function", "config": "relu"}.
    if (text_of(value, "class_name") == "function" && config.is_string()) {
      return renamed_value(kind, config);
    }
    // Regularisers of Keras 1: {"name": "WeightRegularizer", "l1": ..., "l2": ...}.
    if (vocabulary == Vocabulary::kRegularizer && !value.contains("class_name")) {
      return {{"class_name", "L1L2"},
              {"config",
               {{"l1", without_float_noise(value.value("l1", Json(0)))},
                {"l2", without_float_noise(value.value("l2", Json(0)))}}}};
    }
    // Constraints of Keras 1: {"name": "MaxNorm", "m": 2}.
    if (vocabulary == Vocabulary::kConstraint && !value.contains("class_name")) {
      Json settings = value;
      settings.erase("name");
      return {{"class_name", value_of(value, "name")}, {"config", std::move(settings)}};
    }
    std::string class_name = text_of(value, "class_name");
    if (class_name.starts_with("Custom>")) class_name = class_name.substr(7);
    const Json renamed = renamed_value(kind, class_name);
    const Entry* entry = find(vocabulary, renamed.get<std::string>());
    Json result = {{"class_name", renamed}, {"config", Json::object()}};
    if (entry == nullptr || !config.is_object()) {
      if (!config.is_null()) result["config"] = config;
      return result;
    }
    for (const auto& [key, setting] : config.items()) {
      const Field* field = find_field(entry->fields, key);
      if (field != nullptr) {
        if (field->type != FieldType::kIgnored) {
          result["config"][field->name] = without_float_noise(setting);
        }
      } else if (!setting.is_null() && !is_off(family, key, setting)) {
        result["config"][key] = setting;  // the program's check names it
      }
    }
    return result;
  }

  // ---- layers

  void add_layer(const KerasLayer& layer, bool first, Json& layers) {
    const Json& json = *layer.json;
    std::string class_name = text_of(json, "class_name");
    class_name = new_class(class_name);
    const std::string place = layer_title(layer.name, class_name);
    if (class_name == "Lambda" || class_name.ends_with("OpLambda")) {
      return refuse(place, "Python code", "layers that are no code");
    }
    if (is_custom(json)) {
      return refuse(place, shown(value_of(json, "registered_name")) + ", a class of its own",
                    "Keras's layers");
    }
    if (json.contains("config") && (class_name == "Sequential" || class_name == "Functional")) {
      return refuse(place, "a model in a wrapper", "a wrapper around each of its layers");
    }
    const Layer* type = find_layer(class_name);
    if (type == nullptr) {
      std::vector<std::string> known;
      for (const Layer* each : program::layers()) known.push_back(each->class_name);
      const std::vector<std::string> close = nearest_few(class_name, known);
      return refuse(place, "a layer class that neutra doesn't know",
                    "those of docs/formats/program.md" +
                        (close.empty() ? "" : " (did you mean " + close.back() + "?)"));
    }
    Json config = Json::object();
    Json behind = Json::array();  // what becomes layers of their own
    if (!layer.name.empty()) config["name"] = layer.name;
    const Json& stored = value_of(json, "config");
    if (!stored.is_object()) return refuse(place, "config " + shown(stored), "an object");
    std::vector<Field> fields = type->fields;
    const std::vector<Field>& common = section_fields("layer_config");
    fields.insert(fields.end(), common.begin(), common.end());
    add_kernel_size(stored, config);
    for (const auto& [key, value] : stored.items()) {
      if (key == "name" || ((key == "nb_row" || key == "nb_col") && config.contains("kernel_size")))
        continue;
      const Field* field = find_field(fields, key);
      if (field == nullptr) field = find_field(fields, new_name(type->class_name, key));
      if (field == nullptr) {
        if (value.is_null() || is_off("layer", key, value)) continue;
        if (key == "forget_bias_init") {
          config["unit_forget_bias"] = value == "one";
          continue;
        }
        refuse(place, key + " = " + shown(value), known_values("layer", key));
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
        const Json shape = type->class_name.ends_with("2D") ? Json{1, 1, -1} : Json{1, -1};
        behind.push_back({{"class_name", "Reshape"}, {"config", {{"target_shape", shape}}}});
        continue;
      }
      add_setting(*field, value, place, type->class_name, first, config);
    }
    note_call(layer.training, type->class_name, place, config);
    // Later versions, and exports, leave it out for their default alone.
    if (find_field(fields, "reset_after") != nullptr && standalone() &&
        !config.contains("reset_after")) {
      config["reset_after"] = false;  // as before there was a choice
    }
    drop_usual_backward_layer(type->class_name, config);
    // Keras writes the default of a pooling's strides out.
    const Json& window = value_of(config, "pool_size");
    if (!window.is_null() && value_of(config, "strides") == window) config.erase("strides");
    if (!behind.empty()) {
      const std::string own = text_of(behind.front(), "class_name");
      if (type->kind == LayerKind::kRecurrent)
        return refuse(place, own + " as an activation", words_of_activations());
      if (!value_of(config, "activity_regularizer").is_null()) {
        return refuse(place, "activity_regularizer in front of " + own, "null");
      }
      assume("model", own + " behind " + place,
             "a layer of its own: those behind it count one more");
    }
    if (type->class_name != "Activation" || behind.empty()) {
      layers.push_back({{"class_name", type->class_name}, {"config", std::move(config)}});
      titles_.push_back(place);
    }
    for (Json& each : behind) {
      layers.push_back(std::move(each));
      titles_.push_back(place);
    }
  }

  /// What a setting may be, where a layer doesn't know it: the values that switch it off.
  static std::string known_values(const std::string& family, const std::string& key) {
    const Json& off = value_of(value_of(history()["off"], family), key);
    std::vector<std::string> values;
    for (const Json& each : off) values.push_back(key + " = " + shown(each));
    return values.empty() ? "settings that neutra knows"
                          : join(values) + " (other values are not supported)";
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
      return value_of(history()["activation_layers"], word->get<std::string>());
    }
    const std::string class_name = text_of(value, "class_name");
    const Layer* type = is_custom(value) ? nullptr : find_layer(new_class(class_name));
    if (type == nullptr || type->weights != nullptr || !is_activation(*type)) return {};
    Json layers = Json::array();
    const std::size_t before = problems_.size(), titles = titles_.size();
    const Json unnamed = {{"class_name", class_name}, {"config", value_of(value, "config")}};
    add_layer({&unnamed, "", "", Json()}, false, layers);
    titles_.resize(titles);
    for (std::size_t i = before; i < problems_.size(); ++i) {
      problems_[i] = describe(model_.file, place, class_name + " " + shown(unnamed["config"]),
                              words_of_activations());
    }
    if (layers.empty()) return {};
    layers.front()["config"].erase("name");
    return layers.front();
  }

  /// Does the layer nothing but an activation?
  static bool is_activation(const Layer& type) {
    const Json& classes = history()["layers_of_activations"];
    return std::find(classes.begin(), classes.end(), type.class_name) != classes.end();
  }

  static std::string new_class(const std::string& class_name) {
    const Json& renamed = value_of(history()["layers"], class_name);
    return renamed.is_string() ? renamed.get<std::string>() : class_name;
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
        refuse(place, call + ", so that a prediction depends on its batch", "calls without");
      } else if (value_of(config, "trainable") != false) {
        refuse(place, call + ", while its gamma and beta are trained",
               "trainable = false, which keeps its averages, too; or calls without");
      }
      return;
    }
    for (const Json& field : history()["in_training"]) {
      const std::string name = field;
      const Json& amount = value_of(config, name);
      if (amount.is_null() || amount == 0) continue;
      if (on) {
        refuse(place, call + ", so that predictions are random",
               "calls without, or with training = false");
      } else {
        assume("model", place + ": " + name + " = 0 instead of " + shown(amount),
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
  static void drop_usual_backward_layer(const std::string& class_name, Json& config) {
    if (class_name != "Bidirectional") return;
    std::vector<Problem> ignored;
    const Json normal = normal_value({.name = "layer", .type = FieldType::kLayer},
                                     {{"class_name", class_name}, {"config", config}},
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

  static std::string new_name(const std::string& class_name, const std::string& key) {
    for (const std::string& group : {class_name, std::string("*")}) {
      const Json& name = value_of(value_of(history()["fields"], group), key);
      if (name.is_string()) return name;
    }
    return key;
  }

  void add_setting(const Field& field, const Json& value, const std::string& place,
                   const std::string& class_name, bool first, Json& config) {
    const std::string& name = field.name;
    switch (field.type) {
      case FieldType::kActivation: {
        const Json word =
            named(Vocabulary::kActivation, "layer", "activation", value, place + ": " + name);
        if (major_ >= 3 && word == "hard_sigmoid") {
          refuse(place + ": " + name, "hard_sigmoid of Keras 3, relu6(x + 3) / 6",
                 "activations of Keras 2, whose hard_sigmoid is another function");
        }
        if (word.is_string() && find(Vocabulary::kActivation, word.get<std::string>()) == nullptr) {
          return refuse(place + ": " + name, shown(word), words_of_activations());
        }
        config[name] = word;
        return;
      }
      case FieldType::kInitializer:
        config[name] =
            named(Vocabulary::kInitializer, "layer", "initializer", value, place + ": " + name);
        return;
      case FieldType::kRegularizer:
        config[name] = value.is_null() ? value
                                       : named(Vocabulary::kRegularizer, "layer", "regularizer",
                                               value, place + ": " + name);
        return;
      case FieldType::kConstraint:
        config[name] = value.is_null() ? value
                                       : named(Vocabulary::kConstraint, "layer", "constraint",
                                               value, place + ": " + name);
        return;
      case FieldType::kDtype: {
        const Json& policy =
            value.is_object() ? value_of(value_of(value, "config"), "name") : value;
        if (policy.is_null() || policy == "float32") return;
        const std::string type = policy.is_string() ? policy.get<std::string>() : "";
        if (class_name == "InputLayer" || class_name == "Embedding") {
          if (class_name == "InputLayer" && (type.starts_with("int") || type.starts_with("uint"))) {
            assume("model", type + " rows of " + place,
                   "rows are float32 numbers; whole ones are exact up to 2^24");
            return;
          }
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
        add_layer({&value, text_of(value_of(value, "config"), "name"), "", Json()}, false, wrapped);
        titles_.resize(titles);
        if (wrapped.size() > 1) {
          return refuse(place, text_of(wrapped.back(), "class_name") + " behind the wrapped layer",
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

  // ---- compile

  void compile() {
    const Json& stored = model_.training;
    if (stored.is_null()) {
      assume("compile", "not in the file", "the model was saved without its training settings");
      return;
    }
    if (!stored.is_object()) return refuse("training_config", shown(stored), "an object");
    const std::vector<Field>& fields = section_fields("compile");
    for (const auto& [key, value] : stored.items()) {
      if (key == "optimizer" || key == "optimizer_config") {
        if (!is_given("optimizer") && !value.is_null()) add_optimizer(value);
      } else if (key == "loss") {
        if (!is_given("loss")) add_loss(value);
      } else if (key == "metrics") {
        if (!is_given("metrics")) add_metrics(value);
      } else if (is_given(key)) {
        continue;
      } else if (value.is_null() || is_off("compile", key, value)) {
        continue;
      } else if (const Field* field = find_field(fields, key);
                 field == nullptr || field->type != FieldType::kIgnored) {
        refuse("training_config: " + key, shown(value), "a model trained without" + or_given());
      }
    }
  }

  /// Do the training options say this of the compile section? They win.
  bool is_given(const std::string& field) const {
    const Json& options = sources_.training;
    return !value_of(options, field).is_null() || member(value_of(options, "compile"), field);
  }

  /// What helps where the file's training can't be represented.
  std::string or_given() const {
    return sources_.training.is_null() ? "; --training FILE gives others (neutra import --help)"
                                       : "";
  }

  /// Clipping at 0: old and new Keras clip nothing then, tf.keras up to 2.10 clips all to nothing.
  void drop_clipping(Json& config) {
    for (const char* field : {"clipnorm", "clipvalue", "global_clipnorm"}) {
      const Json& bound = value_of(config, field);
      if (!bound.is_number() || bound != 0) continue;
      if (model_.major_version() == 2 && !standalone() && minor_version() < 11) {
        refuse(std::string("optimizer: ") + field,
               "0, with which Keras " + model_.version + " trains no weight",
               "null or a number > 0" + or_given());
      } else {
        assume(std::string("compile.optimizer.config.") + field, "null",
               "0 in the file: Keras " + model_.version + " clips nothing then");
      }
      config.erase(field);
    }
  }

  int minor_version() const {
    const std::size_t dot = model_.version.find('.');
    int minor = 0;
    if (dot != std::string::npos) {
      std::from_chars(model_.version.data() + dot + 1,
                      model_.version.data() + model_.version.size(), minor);
    }
    return minor;
  }

  void add_optimizer(const Json& value) {
    Json optimizer = named(Vocabulary::kOptimizer, "optimizer", "optimizer", value, "optimizer");
    Json* config = optimizer.is_object() ? &optimizer["config"] : nullptr;
    if (config != nullptr && config->is_object()) {
      if (const Json rate = value_of(*config, "learning_rate"); rate.is_object()) {
        add_schedule(rate, *config);
      }
      drop_clipping(*config);
      const std::string class_name = text_of(optimizer, "class_name");
      if (standalone() && class_name == "Adagrad" &&
          !config->contains("initial_accumulator_value")) {
        (*config)["initial_accumulator_value"] = 0;
        assume("compile.optimizer.config.initial_accumulator_value", "0",
               "Adagrad of Keras " + model_.version + " starts there");
      }
      if (standalone() && config->contains("clipnorm") && !(*config)["clipnorm"].is_null()) {
        assume("compile.optimizer.config.clipnorm", shown((*config)["clipnorm"]),
               "Keras " + model_.version +
                   " clips the norm of all gradients, tf.keras 2.4 that of each");
      }
    }
    document_["compile"]["optimizer"] = std::move(optimizer);
  }

  /// Schedules that are a program's fit.schedule or an optimiser's decay.
  void add_schedule(const Json& schedule, Json& config) {
    const std::string class_name = text_of(schedule, "class_name");
    const Json settings = value_of(schedule, "config");
    const std::string place = "optimizer: learning_rate: " + class_name;
    const bool exponential = class_name == "ExponentialDecay";
    if (!exponential && class_name != "InverseTimeDecay") {
      return refuse(
          "optimizer: learning_rate", class_name + " " + shown(settings),
          "a number, ExponentialDecay or InverseTimeDecay without staircase" + or_given());
    }
    const auto number = [&](const char* field, bool fits(double), const std::string& allowed) {
      const Json& value = value_of(settings, field);
      const bool good = value.is_number() && fits(value.get<double>());
      if (!good) refuse(place + ": " + field, shown(value), allowed + or_given());
      return good ? value.get<double>() : 1.0;
    };
    const std::size_t before = problems_.size();
    const auto positive = [](double x) { return x > 0; };
    const double steps = number("decay_steps", positive, "a number > 0");
    const double rate =
        exponential
            ? number(
                  "decay_rate", [](double x) { return x > 0 && x <= 1; }, "a number in (0, 1]")
            : number(
                  "decay_rate", [](double x) { return x >= 0; }, "a number >= 0");
    number(
        "initial_learning_rate", [](double x) { return x >= 0; }, "a number >= 0");
    const Json& staircase = value_of(settings, "staircase");
    if (!staircase.is_null() && staircase != false) {
      refuse(place + ": staircase", shown(staircase), "false" + or_given());
    }
    if (problems_.size() > before) return;
    if (exponential) {
      document_["fit"]["schedule"] = {{"decay_rate", std::pow(rate, 1 / steps)},
                                      {"every", "batch"}};
    } else {
      config["decay"] = rate / steps;
    }
    assume(exponential ? "fit.schedule" : "compile.optimizer.config.decay",
           shown(exponential ? document_["fit"]["schedule"] : config["decay"]),
           "the schedule " + class_name + " says the same");
    config["learning_rate"] = without_float_noise(settings["initial_learning_rate"]);
  }

  void add_loss(const Json& stored) {
    const Json* value = &stored;
    // One loss for each output: there is one.
    if (value->is_array() && value->size() == 1) value = &value->front();
    if (value->is_object() && !value->contains("class_name") && value->size() == 1) {
      value = &value->front();
    }
    if (value->is_null()) return;
    document_["compile"]["loss"] = named(Vocabulary::kLoss, "loss", "loss", *value, "loss");
  }

  void add_metrics(const Json& stored) {
    Json names = Json::array();
    const Json* list = &stored;
    if (list->is_object() && list->size() == 1) list = &list->front();  // by output
    while (list->is_array() && list->size() == 1 && list->front().is_array()) list = &list->front();
    Json all = list->is_array() ? *list : list->is_null() ? Json::array() : Json::array({*list});
    for (const Json& metric : all) {
      const Json name = metric_name(metric);
      const auto leave_out = [&](const std::string& reason) {
        assume("compile.metrics", "without " + shown(metric),
               reason + "; metrics don't change the training");
      };
      if (name.is_null()) {
        leave_out("neutra doesn't know this metric");
        continue;
      }
      const auto same = [&](const Json& each) {
        return each == name || value_of(each, "class_name") == name;
      };
      if (std::any_of(names.begin(), names.end(), same)) continue;
      const Json options = metric_options(metric);
      if (const auto option = unusual_metric_option(name, options)) {
        leave_out(option->path + " = " + option->found + ": neutra has it with " + option->allowed +
                  " alone");
        continue;
      }
      // The program's check takes these options of the first metric.
      Json kept = Json::object();
      for (const char* option : {"k", "from_logits"}) {
        const Json& value = value_of(options, option);
        if (!value.is_null() && value != false) kept[option] = value;
      }
      if (kept.empty()) {
        names.push_back(name);
      } else if (names.empty()) {
        names.push_back({{"class_name", name}, {"config", kept}});
      } else {
        leave_out("only the first metric has " + shown(kept));
      }
    }
    document_["compile"]["metrics"] = std::move(names);
  }

  /// What a metric's class was given.
  static Json metric_options(const Json& metric) {
    const Json& config = value_of(metric, "config");
    return config.is_object() ? without_float_noise(config) : Json::object();
  }

  /// A metric's word; null for one that isn't known.
  static Json metric_name(const Json& metric) {
    Json name = metric;
    if (metric.is_object()) {
      const Json& config = value_of(metric, "config");
      const std::string class_name = text_of(metric, "class_name");
      name = class_name;
      if (class_name == "function" && config.is_string()) name = config;
      // Functions are wrapped; "accuracy" is the wish that one of three fulfils.
      if (class_name == "MeanMetricWrapper") {
        const std::string given = text_of(config, "name");
        name = given == "accuracy" || given == "acc" ? Json("accuracy") : value_of(config, "fn");
      }
    }
    if (!name.is_string()) return {};
    const Entry* entry = find(Vocabulary::kMetric, name.get<std::string>());
    const bool logits = value_of(value_of(metric, "config"), "from_logits") == true;
    if (entry == nullptr || (logits && !entry->facts.contains("logits"))) return {};
    return entry->name;
  }

  // ---- what the file doesn't say

  /// Keras puts an InputLayer in front when it stores a model. neutra's own file says where the
  /// program had none, so that layers keep their numbers.
  bool drop_input_layer(Json& layers) const {
    if (!sources_.training.is_object() || sources_.training.value("input_layer", Json()) != false ||
        layers.size() < 2 || text_of(layers[0], "class_name") != "InputLayer") {
      return false;
    }
    const Json shape = value_of(layers[0]["config"], "batch_input_shape");
    if (!shape.is_null()) layers[1]["config"]["batch_input_shape"] = shape;
    layers.erase(0);
    return true;
  }

  /// AutoTrainer's training options, or sections of a program.
  void training_options() {
    const Json& options = sources_.training;
    if (options.is_null()) return;
    const auto fail = [&](const std::string& place, const Json& found, const std::string& allowed) {
      throw input_error(describe(sources_.training_file, place, shown(found), allowed));
    };
    if (!options.is_object()) fail("", options, "an object");
    assume("compile, fit", sources_.training_file, "training options beside the model");
    static const std::vector<std::string> known = {
        "optimizer", "opt_kwargs", "batchsize", "batch_size",       "epoch",      "epochs",
        "loss",      "metrics",    "shuffle",   "validation_split", "callbacks",  "dataset",
        "compile",   "fit",        "data",      "metric",           "task",       "name",
        "trained",   "keys",       "format",    "version",          "input_layer"};
    for (const auto& [key, value] : options.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw input_error(
            describe(sources_.training_file, key, "an unknown field", allowed_words(key, known)));
      }
      if (key == "compile" || key == "fit") {
        if (!value.is_object()) fail(key, value, "an object");
        for (const auto& [field, setting] : value.items()) document_[key][field] = setting;
      } else if (key == "data" || key == "metric" || key == "task" || key == "name" ||
                 key == "trained") {
        document_[key] = value;
      } else if (key == "batchsize" || key == "batch_size") {
        document_["fit"]["batch_size"] = value;
      } else if (key == "epoch" || key == "epochs") {
        document_["fit"]["epochs"] = value;
      } else if (key == "shuffle" || key == "validation_split") {
        document_["fit"][key] = value;
      } else if (key == "loss") {
        add_loss(value);
      } else if (key == "metrics") {
        add_metrics(value);
      } else if (key == "callbacks" && !value.empty()) {
        document_["fit"]["callbacks"] = value;
      } else if (key == "dataset" && !value.is_null()) {
        assume("data", shown(value), "only the name of a data set; --data gives its rows");
      }
    }
    if (options.contains("optimizer")) {
      Json optimizer = options["optimizer"];
      if (optimizer.is_string()) {
        optimizer = {{"class_name", optimizer},
                     {"config", options.value("opt_kwargs", Json::object())}};
      }
      add_optimizer(optimizer);
    }
  }

  /// The last activation, "" for none.
  std::string output_activation() const {
    const Json& layers = document_["model"]["config"]["layers"];
    for (std::size_t i = layers.size(); i-- > 0;) {
      const Json& layer = innermost_layer(layers[i]);
      const std::string class_name = text_of(layer, "class_name");
      const Layer& type = *find_layer(class_name);
      if (!type.activation.empty()) return type.activation;
      const Json& config = value_of(layer, "config");
      const Json& activation = value_of(config, "activation");
      if (activation.is_string() && activation != "linear") return activation;
      if (type.weights != nullptr) break;
    }
    return "";
  }

  void fill_in_loss() {
    Json& compile = document_["compile"];
    if (!compile.contains("optimizer")) {
      compile["optimizer"] = "rmsprop";
      assume(
          "compile.optimizer", "rmsprop",
          model_.training.is_null()
              ? "Keras's default"
              : "Keras's default: the model was compiled, but its optimiser is lost, since Keras " +
                    model_.version + " didn't store it; --training FILE gives it");
    }
    if (compile.contains("loss")) return;
    const std::string activation = output_activation();
    const DataInfo* info = sources_.info;
    const bool labels =
        info != nullptr && info->y_is_integer && (info->y.empty() || info->y == Shape{1});
    const std::string loss = activation == "softmax"   ? (labels ? "sparse_categorical_crossentropy"
                                                                 : "categorical_crossentropy")
                             : activation == "sigmoid" ? "binary_crossentropy"
                                                       : "mean_squared_error";
    compile["loss"] = loss;
    assume("compile.loss", loss,
           activation.empty() ? "the output is linear" : "the output is " + activation);
    if (!compile.contains("metrics") && activation != "" && loss != "mean_squared_error") {
      compile["metrics"] = Json::array({"accuracy"});
      assume("compile.metrics", "accuracy", "the loss is one of classification");
    }
  }

  void fill_in_metric() {
    const Json& metrics = value_of(document_["compile"], "metrics");
    if (document_.contains("metric") && !document_["metric"].is_null()) return;
    if (!metrics.is_array() || metrics.empty()) {
      assume("metric", "loss", "the model was compiled without a metric that neutra knows");
    }
  }

  void fill_in_fit() {
    Json& fit = document_["fit"];
    if (!fit.contains("batch_size")) {
      fit["batch_size"] = batch_size_.is_null() ? Json(32) : batch_size_;
      assume("fit.batch_size", fit["batch_size"].dump(),
             batch_size_.is_null() ? "Keras's default; model files don't hold it"
                                   : "the model declares batches of this size");
    } else if (!batch_size_.is_null() && fit["batch_size"] != batch_size_) {
      assume("fit.batch_size", shown(fit["batch_size"]),
             "the model declares batches of " + shown(batch_size_) + ", which is left out");
    }
    if (!fit.contains("epochs")) {
      fit["epochs"] = 1;
      assume("fit.epochs", "1", "Keras's default; model files don't hold it");
    }
  }

  void fill_in_data() {
    Json& data = document_["data"];
    if (!sources_.data.is_null()) data = sources_.data;
    if (!data.is_null()) return;
    data = {{"source", "none"}};
    assume(
        "data", "none",
        "model files hold no rows: the program can be shown and changed, but not trained; --data "
        "gives them");
  }

  /// The program's own check, with layers by their name.
  void check() {
    static const std::string prefix = "/model/config/layers/";
    for (const Problem& problem : validate(document_, sources_.info)) {
      std::string place = problem.path.empty() ? "/" : problem.path;
      if (place.starts_with(prefix)) {
        std::size_t index = 0;
        const char* begin = place.data() + prefix.size();
        const char* end = std::from_chars(begin, place.data() + place.size(), index).ptr;
        std::string rest(end, static_cast<std::size_t>(place.data() + place.size() - end));
        if (rest.starts_with("/config/")) rest = rest.substr(8);
        if (index < titles_.size()) place = titles_[index] + (rest.empty() ? "" : ": " + rest);
      } else {
        std::replace(place.begin() + 1, place.end(), '/', '.');
        place = place.substr(1);
      }
      const bool trains = place.starts_with("compile.") || place.starts_with("fit.");
      refuse(place, problem.found, problem.allowed + (trains ? or_given() : ""));
    }
  }

  const KerasModel& model_;
  const ImportSources& sources_;
  const int major_;
  Json document_;
  Json batch_size_;                  ///< that the model declares; null for none
  std::vector<std::string> titles_;  ///< of the program's layers
  std::vector<Assumption> assumptions_;
  std::vector<std::string> problems_;
};

}  // namespace

KerasImport import_keras(const KerasModel& model, const ImportSources& sources) {
  return Importer(model, sources).run();
}

}  // namespace neutra::program
