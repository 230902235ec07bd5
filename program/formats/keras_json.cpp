#include "program/formats/keras_json.h"

namespace neutra::program {

const Json& value_of(const Json& object, std::string_view key) {
  static const Json null;
  const Json* value = member(object, key);
  return value != nullptr ? *value : null;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json& value = value_of(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string layer_title(const std::string& name, const std::string& class_name) {
  return "layer " + (name.empty() ? "" : "'" + name + "' ") + "(" + class_name + ")";
}

}  // namespace neutra::program
