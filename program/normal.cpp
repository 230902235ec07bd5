#include "program/normal.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numbers.h"
#include "base/words.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

constexpr std::size_t kShown = 60;  ///< longest value in a message
constexpr const char* kAsTrained = "as_trained";
constexpr double kExact = 9007199254740992;  ///< 2^53: integers up to here are exact doubles

bool is_integer(const Json& value) { return normal_number(value).is_number_integer(); }

/// "in [0, 1)", ">= 1", "" for any.
std::string range_text(const Field& field) {
  const bool low = std::isfinite(field.low), high = std::isfinite(field.high);
  if (low && high) {
    return std::string(" in ") + (field.open_low ? "(" : "[") + shortest(field.low) + ", " +
           shortest(field.high) + (field.open_high ? ")" : "]");
  }
  if (low) return (field.open_low ? " > " : " >= ") + shortest(field.low);
  if (high) return (field.open_high ? " < " : " <= ") + shortest(field.high);
  return "";
}

bool in_range(const Field& field, double value) {
  return std::isfinite(value) && (field.open_low ? value > field.low : value >= field.low) &&
         (field.open_high ? value < field.high : value <= field.high);
}

/// The values of an array of arrays, row by row; of any other value itself.
Json flat(const Json& value) {
  if (!value.is_array()) return Json::array({value});
  Json list = Json::array();
  for (const Json& item : value) {
    for (Json& one : flat(item)) list.push_back(std::move(one));
  }
  return list;
}

/// Numbers everywhere in a value whose fields are not known here.
Json normal_numbers(const Json& value) {
  if (!value.is_structured()) return normal_number(value);
  Json result = value;
  for (Json& item : result) item = normal_numbers(item);
  return result;
}

class Normaliser {
 public:
  Normaliser(Defaults defaults, std::vector<Problem>& problems)
      : defaults_(defaults), problems_(problems) {}

  Json document(const Json& value) {
    if (!value.is_object()) return report("", value, "an object with model, compile, fit and data");
    Json result = section(value, "", section_fields("document"));
    complete_metric(result);
    return result;
  }

  Json value(const Field& field, const Json& value, const std::string& path) {
    if (value.is_null() && field.fallback && (field.null_is_default || field.fallback->is_null())) {
      return field.fallback->is_null() ? Json() : normal_default(field);
    }
    switch (field.type) {
      case FieldType::kInteger:
        if (is_integer(value) && in_range(field, value.get<double>())) return normal_number(value);
        return report(path, value, "a whole number" + range_text(field) + or_null(field));
      case FieldType::kNumber:
        if (value.is_number() && in_range(field, value.get<double>())) return normal_number(value);
        return report(path, value, "a number" + range_text(field) + or_null(field));
      case FieldType::kBoolean:
        if (value.is_boolean()) return value;
        return report(path, value, "true or false");
      case FieldType::kText:
        return text(field, value, path);
      case FieldType::kLabel:
        if (value.is_string() && !value.get_ref<const std::string&>().empty()) return value;
        return report(path, value, "a text");
      case FieldType::kObject:
        if (value.is_object()) return normal_numbers(value);
        return report(path, value, "an object" + or_null(field));
      case FieldType::kList:
        if (value.is_array()) return normal_numbers(value);
        return report(path, value, "an array");
      case FieldType::kFixed:
        if (normal_number(value) == normal_number(*field.fallback)) return *field.fallback;
        return report(path, value, shown(*field.fallback) + " (other values are not supported)");
      case FieldType::kDtype:
        return dtype(value, path);
      case FieldType::kBatchShape:
        return batch_shape(value, path);
      case FieldType::kSingle: {
        const Json one = value.is_array() ? value : Json::array({value});
        if (one.size() == 1 && all_integers(field, one)) return normal_numbers(one);
        return report(path, value, "n or [n], a whole number" + range_text(field));
      }
      case FieldType::kPair:
        return pair(field, value, path, "n or [n, n] of whole numbers" + range_text(field));
      case FieldType::kPadding:
        return padding(field, value, path);
      case FieldType::kExtents:
        if (value.is_array() && value.size() <= kMaxRank && all_integers(field, value)) {
          return normal_numbers(value);
        }
        return report(path, value,
                      "an array of at most " + std::to_string(kMaxRank) + " whole numbers" +
                          range_text(field));
      case FieldType::kAxis: {
        const Json& axis = value.is_array() && value.size() == 1 ? value.front() : value;
        if (is_integer(axis) && in_range(field, axis.get<double>())) return normal_number(axis);
        return report(path, value, "one axis");
      }
      case FieldType::kAxes:
        return axes(field, value, path);
      case FieldType::kNumbers: {
        const Json list = flat(value);
        const auto fits = [](const Json& item) {
          return item.is_number() && std::isfinite(item.get<double>());
        };
        if (!list.empty() && std::all_of(list.begin(), list.end(), fits)) {
          return normal_numbers(value.is_array() ? list : value);
        }
        return report(path, value, "a number or an array of numbers" + or_null(field));
      }
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
        return object(value, path, "fit");
      case FieldType::kClassWeight:
        return class_weight(value, path);
      case FieldType::kSchedule:
        return object(value, path, "schedule");
      case FieldType::kLoop:
        return object(value, path, "loop");
      case FieldType::kLayerList:
        return layer_list(value, path);
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
      case FieldType::kIgnored:
        break;
    }
    return value;
  }

 private:
  static constexpr std::size_t kMaxRank = 16;

  /// Notes a problem and passes the value on as it is.
  Json report(const std::string& path, const Json& value, std::string allowed) {
    problems_.push_back({path, shown(value), std::move(allowed)});
    return value;
  }

  static std::string or_null(const Field& field) {
    return field.fallback && field.fallback->is_null() ? " or null" : "";
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
          problems_.push_back({place, "nothing", describe_type(field)});
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

  /// What a missing field should hold.
  static std::string describe_type(const Field& field) {
    switch (field.type) {
      case FieldType::kInteger:
        return "a whole number" + range_text(field);
      case FieldType::kNumber:
        return "a number" + range_text(field);
      case FieldType::kText:
      case FieldType::kLabel:
        return field.words.empty() ? "a text" : join(field.words);
      case FieldType::kLoss:
        return join(words(Vocabulary::kLoss));
      case FieldType::kActivation:
        return join(words(Vocabulary::kActivation));
      case FieldType::kMeasure:
        return join(words(Vocabulary::kMetric));
      case FieldType::kModelConfig:
      case FieldType::kLayers:
        return "an array of layers";
      case FieldType::kLayer:
        return "a layer {class_name, config}";
      default:
        return "a value";
    }
  }

  Json object(const Json& value, const std::string& path, const std::string& name) {
    if (!value.is_object()) return report(path, value, "an object");
    return section(value, path, section_fields(name));
  }

  Json text(const Field& field, const Json& value, const std::string& path) {
    if (!value.is_string()) {
      return report(path, value, field.words.empty() ? "a text" : join(field.words));
    }
    const auto& found = value.get_ref<const std::string&>();
    if (field.words.empty() ||
        std::find(field.words.begin(), field.words.end(), found) != field.words.end()) {
      return value;
    }
    return report(path, value, allowed_words(found, field.words) + or_null(field));
  }

  Json dtype(const Json& value, const std::string& path) {
    const Json* policy = member(value, "config");
    const Json* name = policy != nullptr ? member(*policy, "name") : &value;
    if (name == nullptr || *name != "float32") {
      return report(path, value, "\"float32\" (other types are not supported)");
    }
    return *name;
  }

  Json batch_shape(const Json& value, const std::string& path) {
    const auto extent = [](const Json& item) {
      return item.is_null() || (is_integer(item) && item.get<double>() >= 1 &&
                                item.get<double>() <= static_cast<double>(kMaxElements));
    };
    if (value.is_array() && !value.empty() && value.size() <= kMaxRank && value.front().is_null() &&
        std::all_of(value.begin(), value.end(), extent)) {
      return value;
    }
    return report(path, value, "[null, extents of one row...]");
  }

  bool all_integers(const Field& field, const Json& array) {
    return std::all_of(array.begin(), array.end(), [&](const Json& item) {
      return is_integer(item) && in_range(field, item.get<double>());
    });
  }

  Json layer_list(const Json& value, const std::string& path) {
    std::set<std::int64_t> layers;
    for (const Json& item : value.is_array() ? value : Json::array({value})) {
      if (!is_integer(item) || item.get<double>() < 0 || item.get<double>() > kExact) {
        return report(path, value, "an array of layers' positions, whole numbers >= 0");
      }
      layers.insert(normal_number(item).get<std::int64_t>());
    }
    return layers;
  }

  Json axes(const Field& field, const Json& value, const std::string& path) {
    if (value.is_null()) return value;  // all, or none: the field's own default is another
    const Json list = value.is_array() ? value : Json::array({value});
    if (list.size() > kMaxRank || !all_integers(field, list)) {
      return report(path, value,
                    "null, an axis or an array of axes, whole numbers" + range_text(field));
    }
    std::set<std::int64_t> sorted;
    for (const Json& axis : list) sorted.insert(normal_number(axis).get<std::int64_t>());
    return sorted;
  }

  /// Keras takes the classes 0 to n - 1 alone.
  Json class_weight(const Json& value, const std::string& path) {
    Json result = Json::object();
    for (std::size_t k = 0; value.is_object() && k < value.size(); ++k) {
      const Json* weight = member(value, std::to_string(k));
      if (weight == nullptr || !weight->is_number() || !std::isfinite(weight->get<double>())) break;
      result[std::to_string(k)] = normal_number(*weight);
    }
    if (!result.empty() && result.size() == value.size()) return result;
    return report(path, value,
                  "null, or {\"0\": weight, \"1\": weight, ...} with a number for each class");
  }

  Json pair(const Field& field, const Json& value, const std::string& path,
            const std::string& allowed) {
    const Json both = value.is_array() ? value : Json::array({value, value});
    if (both.size() == 2 && all_integers(field, both)) return normal_numbers(both);
    return report(path, value, allowed);
  }

  Json padding(const Field& field, const Json& value, const std::string& path) {
    const std::string allowed =
        "n, [n, n] or [[n, n], [n, n]] of whole numbers" + range_text(field);
    const Json sides = value.is_array() ? value : Json::array({value, value});
    if (sides.size() != 2) return report(path, value, allowed);
    const std::size_t before = problems_.size();
    Json result = Json::array();
    for (const Json& side : sides) {
      result.push_back(pair(field, side, path, allowed));
      if (problems_.size() > before) {
        problems_.back().found = shown(value);
        return value;
      }
    }
    return result;
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
    Json config = config_of(value, path, entry->fields);
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
      if (config["value"] == 0)
        filled = {{"class_name", "Zeros"}, {"config", Json::object()}};
      else if (config["value"] == 1)
        filled = {{"class_name", "Ones"}, {"config", Json::object()}};
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
        if (const Json* config = member(item, "config"); config != nullptr && config->is_object())
          first_metric_options_ = *config;
      }
      result.push_back(word(Vocabulary::kMetric, name != nullptr ? *name : item, place));
    }
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
      result.push_back(layer(value[i], path + "/" + std::to_string(i), i));
    }
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
    if (known->class_name == "InputLayer" && index > 0) {
      problems_.push_back({path, "an InputLayer behind other layers", "at most one, the first"});
    }
    std::vector<Field> fields = known->fields;
    const std::vector<Field>& common = section_fields("layer_config");
    fields.insert(fields.end(), common.begin(), common.end());
    Json result = {{"class_name", known->class_name}};
    Json config = config_of(value, path, fields);
    if (known->class_name == "Bidirectional") simplify_directions(config);
    if (defaults_ == Defaults::kFill || !config.empty()) result["config"] = std::move(config);
    return result;
  }

  /// What Keras stores of the two layers of a Bidirectional and knows without: `backward_layer`,
  /// where it is `layer` the other way round, and `zero_output_for_mask`, which it sets itself.
  void simplify_directions(Json& config) const {
    const auto taken = [](Json& layer, const char* flag) {
      Json& settings = layer["config"];
      if (!settings.is_object()) return false;
      const bool value = settings.value(flag, Json(false)) == true;
      settings.erase(flag);
      return value;
    };
    const Json* forward = member(config, "layer");
    const Json* backward = member(config, "backward_layer");
    for (const Json* layer : {forward, backward}) {
      if (layer == nullptr || !layer->is_object()) continue;
      const Json* settings = member(*layer, "config");
      if (settings == nullptr || !settings->contains("zero_output_for_mask")) continue;
      Json& own = config[layer == forward ? "layer" : "backward_layer"]["config"];
      if (defaults_ == Defaults::kFill) {
        own["zero_output_for_mask"] = false;
      } else {
        own.erase("zero_output_for_mask");
      }
    }
    if (forward == nullptr || backward == nullptr || !backward->is_object()) return;
    Json one = *forward, other = *backward;
    if (taken(one, "go_backwards") == taken(other, "go_backwards") || one != other) return;
    if (defaults_ == Defaults::kFill) {
      config["backward_layer"] = nullptr;
    } else {
      config.erase("backward_layer");
    }
  }

  /// Fills in the metric: the first of compile.metrics, else the loss; its goal and its options by
  /// its name.
  void complete_metric(Json& document) {
    Json metric = document.value("metric", Json());
    if (metric.is_null()) {
      const Json compile = document.value("compile", Json());
      const Json* metrics = member(compile, "metrics");
      metric = {{"name", "loss"}};
      if (metrics != nullptr && metrics->is_array() && !metrics->empty()) {
        metric["name"] = metrics->front();
        take_options(metric);
      }
    }
    if (metric.is_object()) {
      const Json name = metric.value("name", Json());
      const Entry* entry =
          name.is_string() ? find(Vocabulary::kMetric, name.get<std::string>()) : nullptr;
      const std::string usual = entry != nullptr ? entry->facts.value("goal", "") : "";
      if (metric.value("goal", Json()).is_null()) metric["goal"] = usual;
      if (defaults_ == Defaults::kDrop && metric["goal"] == usual) metric.erase("goal");
      if (entry != nullptr) complete_options(metric, *entry);
    }
    document["metric"] = metric;
  }

  /// The options that the first of compile.metrics has as a class: k is the metric's, too. What
  /// would make another number of it is refused, since nothing here computes that.
  void take_options(Json& metric) {
    const Json& name = metric["name"];
    const Entry* entry =
        name.is_string() ? find(Vocabulary::kMetric, name.get<std::string>()) : nullptr;
    if (entry == nullptr) return;
    const Json* k = member(first_metric_options_, "k");
    if (k != nullptr && entry->facts.contains("k")) metric["k"] = *k;
    const Json* logits = member(first_metric_options_, "from_logits");
    if (logits != nullptr && entry->facts.contains("logits")) metric["from_logits"] = *logits;
    if (const auto option = unusual_metric_option(entry->name, first_metric_options_)) {
      problems_.push_back({"/compile/metrics/0/config/" + option->path, option->found,
                           option->allowed + ", or another metric (/metric) to judge by"});
    }
  }

  /// A metric has the options that its entry has; the usual scale goes without saying.
  void complete_options(Json& metric, const Entry& entry) {
    const Json usual = entry.facts.value("k", Json());
    const Json k = metric.value("k", Json());
    if (usual.is_null() && !k.is_null()) {
      problems_.push_back({"/metric/k", shown(k), "nothing: " + entry.name + " has none"});
    }
    if (usual.is_null() || (defaults_ == Defaults::kDrop && (k.is_null() || k == usual))) {
      metric.erase("k");
    } else if (k.is_null()) {
      metric["k"] = usual;
    }
    const Json scale = metric.value("scale", Json(kAsTrained));
    const bool scales = entry.facts.value("scale", false) || entry.name == "r2";
    if (!scales && scale == "original") {
      problems_.push_back(
          {"/metric/scale", shown(scale),
           std::string(kAsTrained) + ": " + entry.name + " is no error on a scale"});
    }
    if (scale == kAsTrained) metric.erase("scale");
    if (metric.value("from_logits", Json(false)) == false) {
      metric.erase("from_logits");
    } else if (!entry.facts.value("logits", false)) {
      problems_.push_back(
          {"/metric/from_logits", "true", "false: " + entry.name + " is no cross entropy"});
    }
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

std::optional<Problem> unusual_metric_option(const std::string& name, const Json& config) {
  const Entry* entry = find(Vocabulary::kMetric, name);
  if (entry == nullptr) return std::nullopt;
  const Json usual_options = entry->facts.value("usual", Json::object());
  for (const auto& [option, usual] : usual_options.items()) {
    const Json* value = member(config, option);
    if (value != nullptr && normal_number(*value) != usual) {
      return Problem{option, shown(*value), shown(usual)};
    }
  }
  return std::nullopt;
}

const Json* find_layers(const Json& document) {
  const Json* model = member(document, "model");
  const Json* config = model != nullptr ? member(*model, "config") : nullptr;
  const Json* layers = config == nullptr || config->is_array() ? config : member(*config, "layers");
  return layers != nullptr && layers->is_array() ? layers : nullptr;
}

const Json& innermost_layer(const Json& layer) {
  const Json* config = member(layer, "config");
  const Json* wrapped = config != nullptr ? member(*config, "layer") : nullptr;
  return wrapped != nullptr && wrapped->is_object() ? innermost_layer(*wrapped) : layer;
}

std::string layers_path(const Json& document) {
  const Json* layers = find_layers(document);
  const bool bare = layers != nullptr && layers == member(document["model"], "config");
  return bare ? "/model/config" : "/model/config/layers";
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

std::string shown(const Json& value) {
  if (value.is_array() && value.size() > kShown) {
    return "an array of " + std::to_string(value.size()) + " values";
  }
  if (value.is_object() && value.size() > kShown) {
    return "an object of " + std::to_string(value.size()) + " fields";
  }
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

std::string loss_word(const Json& loss) { return loss.is_object() ? loss.at("class_name") : loss; }

LossOptions loss_options(const Json& loss) {
  const Json config = loss.is_object() ? loss.value("config", Json::object()) : Json::object();
  return {config.value("from_logits", false), config.value("label_smoothing", 0.0)};
}

Json normal_number(const Json& value) {
  if (!value.is_number_float()) return value;
  const double number = value.get<double>();
  if (std::abs(number) < kExact && number == std::trunc(number)) {
    return static_cast<std::int64_t>(number);
  }
  return value;
}

}  // namespace neutra::program
