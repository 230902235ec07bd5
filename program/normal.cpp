#include "program/normal.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/words.h"
#include "program/document.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/metric_options.h"
#include "program/normal_wiring.h"
#include "program/optimizer_rules.h"
#include "program/plain_values.h"
#include "program/rate_schedule.h"

namespace neutra::program {
namespace {

class Normaliser {
 public:
  Normaliser(Defaults defaults, std::vector<Problem>& problems)
      : defaults_(defaults), problems_(problems) {}

  Json document(const Json& value) {
    if (!value.is_object()) return report("", value, "an object with model, compile, fit and data");
    Json result = section(value, "", section_fields("document"));
    complete_metric(result, first_metric_options_, defaults_, problems_);
    return result;
  }

  Json value(const Field& field, const Json& value, const std::string& path) {
    if (value.is_null() && field.fallback && (field.null_is_default || field.fallback->is_null())) {
      return field.fallback->is_null() ? Json() : normal_default(field);
    }
    if (auto plain = plain_value(field, value)) {
      if (auto* refusal = std::get_if<NotAllowed>(&*plain)) {
        return report(path, value, std::move(refusal->text));
      }
      return std::get<Json>(*std::move(plain));
    }
    switch (field.type) {
      case FieldType::kActivation:
        return value.is_null() ? Json("linear") : word(Vocabulary::kActivation, value, path);
      case FieldType::kInitializer:
        return initializer(value, path);
      case FieldType::kRegularizer:
        return regularizer(value, path);
      case FieldType::kConstraint:
        return value.is_null() ? value : named(Vocabulary::kConstraint, value, path);
      case FieldType::kOptimizer:
        return named(Vocabulary::kOptimizer, value, path);
      case FieldType::kLoss:
        return loss(value, path);
      case FieldType::kMetrics:
        return metrics(value, path);
      case FieldType::kMeasure:
        return word(Vocabulary::kMetric, value, path);
      case FieldType::kCallbacks:
        return callbacks(value, path);
      case FieldType::kModel:
        return model(value, path);
      case FieldType::kModelConfig:
        if (value.is_object()) return section(value, path, section_fields("model_config"));
        return layers(value, path);
      case FieldType::kLayers:
        return layers(value, path);
      case FieldType::kLayer:
        return layer(value, path, 1);
      case FieldType::kCompile:
        return object(value, path, "compile");
      case FieldType::kFit:
        return fit(value, path);
      case FieldType::kSchedule:
        return schedule(value, path);
      case FieldType::kLoop:
        return object(value, path, "loop");
      case FieldType::kTrained:
        return object(value, path, "trained");
      case FieldType::kTrainedMutations:
        return trained_mutations(value, path);
      case FieldType::kData:
        return object(value, path, "data");
      case FieldType::kSplit:
        return object(value, path, "split");
      case FieldType::kValidation:
        if (value.is_object()) return object(value, path, "split");
        if (value == "test") return value;
        return report(path, value, "{test_size, seed}, \"test\"" + or_null(field));
      case FieldType::kMetric:
        return object(value, path, "metric");
      default:
        return value;  // kIgnored
    }
  }

 private:
  /// Notes a problem and passes the value on as it is.
  Json report(const std::string& path, const Json& value, std::string allowed) {
    problems_.push_back({path, shown(value), std::move(allowed)});
    return value;
  }

  Json normal_default(const Field& field) { return value(field, *field.fallback, ""); }

  /// Is the field's place in the normal form empty?
  static bool left_out(const Field& field) {
    return field.type == FieldType::kIgnored || field.type == FieldType::kDtype ||
           field.type == FieldType::kBatchShape;
  }

  /// The fields of an object in the order of the table; problems for unknown, missing and doubled.
  Json section(const Json& object, const std::string& path, const std::vector<Field>& fields) {
    Json result = Json::object();
    Json unknown = Json::object();
    std::vector<const Json*> given(fields.size(), nullptr);
    for (const auto& [key, item] : object.items()) {
      const Field* field = find_field(fields, key);
      if (field == nullptr) {
        report_unknown(path, key, fields);
        unknown[key] = item;
      } else if (const auto at = static_cast<std::size_t>(field - fields.data());
                 given[at] == nullptr) {
        given[at] = &item;
      } else {
        problems_.push_back({path + "/" + pointer_token(key), "a second value of " + field->name,
                             "one of its spellings"});
      }
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      const std::string place = path + "/" + field.name;
      if (given[i] == nullptr && !field.fallback) {
        if (field.type != FieldType::kIgnored) {
          problems_.push_back({place, "nothing", missing_value_text(field)});
        }
        continue;
      }
      if (given[i] == nullptr && (defaults_ == Defaults::kDrop || left_out(field))) continue;
      Json normal = given[i] != nullptr ? value(field, *given[i], place) : normal_default(field);
      if (left_out(field)) continue;
      if (defaults_ == Defaults::kDrop && field.fallback && normal == normal_default(field)) {
        continue;
      }
      result[field.name] = std::move(normal);
    }
    for (const auto& [key, item] : unknown.items()) result[key] = item;
    return result;
  }

  void report_unknown(const std::string& path, const std::string& key,
                      const std::vector<Field>& fields) {
    std::vector<std::string> names;
    for (const Field& field : fields) {
      if (field.type != FieldType::kIgnored) names.push_back(field.name);
    }
    problems_.push_back(
        {path + "/" + pointer_token(key), "an unknown field", allowed_words(key, names)});
  }

  Json object(const Json& value, const std::string& path, const std::string& name) {
    if (!value.is_object()) return report(path, value, "an object");
    return section(value, path, section_fields(name));
  }

  Json word(Vocabulary vocabulary, const Json& value, const std::string& path) {
    const Entry* entry = value.is_string() ? find(vocabulary, value.get<std::string>()) : nullptr;
    return entry != nullptr ? Json(entry->name) : unknown_word(vocabulary, value, path);
  }

  Json unknown_word(Vocabulary vocabulary, const Json& value, const std::string& path) {
    const std::string found = value.is_string() ? value.get<std::string>() : "";
    return report(path, value, allowed_words(found, words(vocabulary)));
  }

  /// "word" or {class_name, config} -> {class_name, config} with the canonical class name.
  Json named(Vocabulary vocabulary, const Json& value, const std::string& path) {
    const Json* class_name = value.is_string() ? &value : member(value, "class_name");
    const std::string place = value.is_string() ? path : path + "/class_name";
    if (class_name == nullptr) {
      return report(path, value,
                    "a word or {class_name, config}; words: " + join(words(vocabulary)));
    }
    const Entry* entry =
        class_name->is_string() ? find(vocabulary, class_name->get<std::string>()) : nullptr;
    if (entry == nullptr) {
      unknown_word(vocabulary, *class_name, place);
      return value;
    }
    Json result = {{"class_name", entry->name}};
    const bool optimizer = vocabulary == Vocabulary::kOptimizer;
    Json config =
        config_of(value, path, optimizer ? optimizer_fields(*entry, value) : entry->fields);
    if (optimizer) normalise_undecayed(config, path, problems_);
    if (defaults_ == Defaults::kFill || !config.empty()) result["config"] = std::move(config);
    return result;
  }

  /// The config of {class_name, config}, which may be missing or null.
  Json config_of(const Json& value, const std::string& path, const std::vector<Field>& fields) {
    static const Json none = Json::object();
    if (value.is_object()) report_strangers(value, path);
    const Json* config = member(value, "config");
    if (config == nullptr || config->is_null()) config = &none;
    if (!config->is_object()) return report(path + "/config", *config, "an object");
    return section(*config, path + "/config", fields);
  }

  /// Fields beside class_name and config.
  void report_strangers(const Json& value, const std::string& path) {
    const std::vector<Field>& fields = section_fields("layer");
    for (const auto& [key, item] : value.items()) {
      if (find_field(fields, key) == nullptr) report_unknown(path, key, fields);
    }
  }

  /// Initialisers that are the same by construction get the same name.
  Json initializer(const Json& value, const std::string& path) {
    const std::size_t before = problems_.size();
    Json filled =
        Normaliser(Defaults::kFill, problems_).named(Vocabulary::kInitializer, value, path);
    if (problems_.size() > before) return filled;
    Json& config = filled["config"];
    if (filled["class_name"] == "VarianceScaling") {
      if (config["distribution"] == "normal") config["distribution"] = "truncated_normal";
      for (const Entry& entry : entries(Vocabulary::kInitializer)) {
        const auto means = entry.facts.find("means");
        if (means != entry.facts.end() && *means == config) {
          filled = {{"class_name", entry.name}, {"config", Json::object()}};
          break;
        }
      }
    } else if (filled["class_name"] == "Constant") {
      if (config["value"] == 0) {
        filled = {{"class_name", "Zeros"}, {"config", Json::object()}};
      } else if (config["value"] == 1) {
        filled = {{"class_name", "Ones"}, {"config", Json::object()}};
      }
    }
    return defaults_ == Defaults::kFill ? filled : named(Vocabulary::kInitializer, filled, path);
  }

  /// All regularisers are sums of an l1 and an l2 part.
  Json regularizer(const Json& value, const std::string& path) {
    if (value.is_null()) return value;
    const std::size_t before = problems_.size();
    const Json filled =
        Normaliser(Defaults::kFill, problems_).named(Vocabulary::kRegularizer, value, path);
    if (problems_.size() > before) return filled;
    const Json& config = filled.at("config");
    const Json l1 = config.value("l1", Json(0)), l2 = config.value("l2", Json(0));
    if (l1 == 0 && l2 == 0) return Json();
    const Json sum = {{"class_name", "L1L2"}, {"config", {{"l1", l1}, {"l2", l2}}}};
    return defaults_ == Defaults::kFill ? sum : named(Vocabulary::kRegularizer, sum, path);
  }

  Json loss(const Json& value, const std::string& path) {
    if (!value.is_object()) return word(Vocabulary::kLoss, value, path);
    const std::size_t before = problems_.size();
    Json result = Normaliser(Defaults::kDrop, problems_).named(Vocabulary::kLoss, value, path);
    if (problems_.size() > before) return value;
    if (!result.contains("config")) return result.at("class_name");
    result["config"].erase("reduction");  // all that may be there mean the same
    return result["config"].empty() ? Json(result.at("class_name")) : result;
  }

  Json metrics(const Json& value, const std::string& path) {
    if (!value.is_array()) return report(path, value, "an array of metrics");
    Json result = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json& item = value[i];
      const std::string place = path + "/" + std::to_string(i);
      if (item.is_array() && value.size() == 1) return metrics(item, place);  // one list per output
      const Json* name = &item;
      if (item.is_object()) {
        // Keras stores metrics given by a word as a wrapper around the function.
        const Json* config = member(item, "config");
        const Json* function = config != nullptr ? member(*config, "fn") : nullptr;
        const Json* class_name = member(item, "class_name");
        name = class_name != nullptr && *class_name != "MeanMetricWrapper" ? class_name
               : function != nullptr && function->is_string()              ? function
               : config != nullptr                                         ? member(*config, "name")
                                                                           : nullptr;
      }
      if (i == 0 && item.is_object()) {
        if (const Json* config = member(item, "config"); config != nullptr && config->is_object()) {
          first_metric_options_ = *config;
        }
      }
      result.push_back(word(Vocabulary::kMetric, name != nullptr ? *name : item, place));
    }
    return result;
  }

  Json fit(const Json& value, const std::string& path) {
    Json result = object(value, path, "fit");
    const Json* weights = member(result, "initial_weights");
    if (weights == nullptr || !weights->is_object()) return result;
    result["initial_weights"] = object(*weights, path + "/initial_weights", "initial_weights");
    const Json digest = result["initial_weights"].value("sha256", Json());
    if (digest.is_string() && !is_sha256(digest.get_ref<const std::string&>())) {
      report(path + "/initial_weights/sha256", digest, "64 hexadecimal digits in small letters");
    }
    return result;
  }

  /// {kind, ...}; without a kind an exponential one, which is the only one that there once was.
  Json schedule(const Json& value, const std::string& path) {
    static const std::vector<std::string> kinds{"exponential", "inverse_time", "cosine",
                                                "polynomial", "piecewise"};
    if (!value.is_object()) return report(path, value, "an object");
    const Json kind = value.value("kind", Json(kinds.front()));
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      return report(path + "/kind", kind,
                    allowed_words(kind.is_string() ? kind.get<std::string>() : "", kinds));
    }
    const bool usual = kind == kinds.front();
    Json fields = value, result = Json::object();
    fields.erase("kind");
    const std::size_t before = problems_.size();
    result.update(section(
        fields, path, section_fields(usual ? "schedule" : kind.get<std::string>() + "_schedule")));
    if (!usual || defaults_ == Defaults::kFill) result["kind"] = kind;
    if (problems_.size() == before && kind == "piecewise") check_pieces(result, path, problems_);
    return result;
  }

  Json callbacks(const Json& value, const std::string& path) {
    if (!value.is_array()) return report(path, value, "an array of callbacks");
    Json result = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      result.push_back(named(Vocabulary::kCallback, value[i], path + "/" + std::to_string(i)));
    }
    return result;
  }

  Json trained_mutations(const Json& value, const std::string& path) {
    if (!value.is_array()) return report(path, value, "an array of steps {op, ...}");
    Json result = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string place = path + "/" + std::to_string(i);
      const Json* op = member(value[i], "op");
      const Entry* entry = op != nullptr && op->is_string()
                               ? find(Vocabulary::kTrainedMutation, op->get<std::string>())
                               : nullptr;
      if (entry == nullptr) {
        unknown_word(Vocabulary::kTrainedMutation, op != nullptr ? *op : value[i],
                     op != nullptr ? place + "/op" : place);
        result.push_back(value[i]);
        continue;
      }
      Json fields = value[i];
      fields.erase("op");
      Json step = {{"op", entry->name}};
      step.update(section(fields, place, entry->fields));
      result.push_back(std::move(step));
    }
    return result;
  }

  Json model(const Json& value, const std::string& path) {
    if (!value.is_object()) return report(path, value, "{class_name, config}");
    Json result = section(value, path, section_fields("model"));
    // One shape for both of Keras's layouts.
    if (const auto config = result.find("config"); config != result.end() && config->is_array()) {
      *config = {{"layers", *config}};
    }
    return result;
  }

  Json layers(const Json& value, const std::string& path) {
    if (!value.is_array()) return report(path, value, "an array of layers");
    Json result = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string place = path + "/" + std::to_string(i);
      const bool call = member(value[i], "weights_of") != nullptr;
      if (!call && member(value[i], "inputs") == nullptr) {
        result.push_back(layer(value[i], place, i));
        continue;
      }
      Json own = value[i];
      own.erase("inputs");
      result.push_back(call ? later_call(value, result, place, i) : layer(own, place, i));
    }
    const std::size_t before = problems_.size();
    add_normal_wiring(value, result, path, problems_);
    if (problems_.size() == before) check_wiring(result, path, problems_);
    return result;
  }

  /// A layer that is an earlier one called once more.
  Json later_call(const Json& layers, const Json& normal, const std::string& path,
                  std::size_t index) {
    if (auto problem = problem_of_call(layers, index, path)) {
      problems_.push_back(*std::move(problem));
      Json result = layers[index];
      result.erase("inputs");
      return result;
    }
    const std::size_t owner = *layer_referred(layers, layers[index].at("weights_of"), index);
    Json result = normal[owner];
    for (const char* field : {"inputs", "weights_of"}) result.erase(field);
    if (defaults_ == Defaults::kDrop) result.erase("config");
    result["weights_of"] = owner;
    return result;
  }

  Json layer(const Json& value, const std::string& path, std::size_t index) {
    const Json* class_name = member(value, "class_name");
    if (class_name == nullptr || !class_name->is_string()) {
      return report(path, value, "a layer {class_name, config}");
    }
    const Layer* known = find_layer(class_name->get<std::string>());
    if (known == nullptr) {
      std::vector<std::string> names;
      for (const Layer* each : program::layers()) names.push_back(each->class_name);
      report(path + "/class_name", *class_name,
             allowed_words(class_name->get<std::string>(), names));
      return value;
    }
    if (known->kind == LayerKind::kInput && index > 0) {
      problems_.push_back({path, "an InputLayer behind other layers", "at most one, the first"});
    }
    std::vector<Field> fields = known->fields;
    const std::vector<Field>& common = section_fields("layer_config");
    fields.insert(fields.end(), common.begin(), common.end());
    Json result = {{"class_name", known->class_name}};
    Json config = config_of(value, path, fields);
    if (known->simplify != nullptr) known->simplify(config, defaults_);
    if (defaults_ == Defaults::kFill || !config.empty()) result["config"] = std::move(config);
    return result;
  }

  Defaults defaults_;
  std::vector<Problem>& problems_;
  Json first_metric_options_ = Json::object();  ///< of the first of compile.metrics, if a class
};

}  // namespace

Json normal_form(const Json& document, Defaults defaults, std::vector<Problem>& problems) {
  return Normaliser(defaults, problems).document(document);
}

Json normal_value(const Field& field, const Json& value, Defaults defaults, const std::string& path,
                  std::vector<Problem>& problems) {
  return Normaliser(defaults, problems).value(field, value, path);
}

}  // namespace neutra::program
