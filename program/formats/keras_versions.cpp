#include "program/formats/keras_versions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/words.h"
#include "program/document.h"
#include "program/embedded.h"
#include "program/formats/keras_json.h"

namespace neutra::program {

const Json& keras_history() {
  static const Json json = parse_json(embedded::keras_history, "keras_history.json");
  return json;
}

bool is_off(const std::string& family, const std::string& key, const Json& value) {
  const Json& without_effect = value_of(keras_history()["without_effect"], family);
  if (std::find(without_effect.begin(), without_effect.end(), key) != without_effect.end()) {
    return true;
  }
  const Json& off = value_of(value_of(keras_history()["off"], family), key);
  return std::any_of(off.begin(), off.end(),
                     [&](const Json& each) { return normal_number(value) == each; });
}

std::string known_values(const std::string& family, const std::string& key) {
  const Json& off = value_of(value_of(keras_history()["off"], family), key);
  std::vector<std::string> values;
  for (const Json& each : off) values.push_back(key + " = " + shown(each));
  return values.empty() ? "settings that neutra knows"
                        : join(values) + " (other values are not supported)";
}

const Json& renamed_value(const std::string& kind, const Json& value) {
  if (!value.is_string()) return value;
  const Json& known = value_of(value_of(keras_history()["values"], kind), value.get<std::string>());
  return known.is_null() ? value : known;
}

std::string new_class(const std::string& class_name) {
  const Json& renamed = value_of(keras_history()["layers"], class_name);
  return renamed.is_string() ? renamed.get<std::string>() : class_name;
}

std::string new_name(const std::string& class_name, const std::string& key) {
  for (const std::string& group : {class_name, std::string("*")}) {
    const Json& name = value_of(value_of(keras_history()["fields"], group), key);
    if (name.is_string()) return name;
  }
  return key;
}

bool is_custom(const Json& object) {
  return text_of(object, "registered_name").find('>') != std::string::npos;
}

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

}  // namespace neutra::program
