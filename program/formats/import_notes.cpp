#include "program/formats/import_notes.h"

#include "base/error.h"
#include "program/document.h"
#include "program/formats/keras_json.h"
#include "program/formats/keras_versions.h"

namespace neutra::program {

void ImportNotes::refuse(const std::string& place, const std::string& found,
                         const std::string& allowed) {
  problems.push_back(describe(model.file, place, found, allowed));
}

void ImportNotes::assume(const std::string& field, const std::string& value,
                         const std::string& reason) {
  assumptions.push_back({field, value, reason});
}

Json ImportNotes::named(Vocabulary vocabulary, const std::string& family, const std::string& kind,
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

}  // namespace neutra::program
