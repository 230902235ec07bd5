#include "program/plain_values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numbers.h"
#include "base/words.h"
#include "program/document.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

using Value = std::variant<Json, NotAllowed>;

constexpr std::size_t kMaxRank = 16;

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

bool all_integers(const Field& field, const Json& array) {
  return std::all_of(array.begin(), array.end(), [&](const Json& item) {
    return is_integer(item) && in_range(field, item.get<double>());
  });
}

Value text(const Field& field, const Json& value) {
  if (!value.is_string()) {
    return NotAllowed{field.words.empty() ? "a text" : join(field.words)};
  }
  const auto& found = value.get_ref<const std::string&>();
  if (field.words.empty() ||
      std::find(field.words.begin(), field.words.end(), found) != field.words.end()) {
    return value;
  }
  return NotAllowed{allowed_words(found, field.words) + or_null(field)};
}

Value dtype(const Json& value) {
  const Json* policy = member(value, "config");
  const Json* name = policy != nullptr ? member(*policy, "name") : &value;
  if (name == nullptr || *name != "float32") {
    return NotAllowed{"\"float32\" (other types are not supported)"};
  }
  return *name;
}

Value batch_shape(const Json& value) {
  const auto extent = [](const Json& item) {
    return item.is_null() || (is_integer(item) && item.get<double>() >= 1 &&
                              item.get<double>() <= static_cast<double>(kMaxElements));
  };
  if (value.is_array() && !value.empty() && value.size() <= kMaxRank && value.front().is_null() &&
      std::all_of(value.begin(), value.end(), extent)) {
    return value;
  }
  return NotAllowed{"[null, extents of one row...]"};
}

Value layer_list(const Json& value) {
  std::set<std::int64_t> layers;
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!is_integer(item) || item.get<double>() < 0 || item.get<double>() > kLargestExactWhole) {
      return NotAllowed{"an array of layers' positions, whole numbers >= 0"};
    }
    layers.insert(normal_number(item).get<std::int64_t>());
  }
  return Json(layers);
}

Value axes(const Field& field, const Json& value) {
  if (value.is_null()) return value;  // all, or none: the field's own default is another
  const Json list = value.is_array() ? value : Json::array({value});
  if (list.size() > kMaxRank || !all_integers(field, list)) {
    return NotAllowed{"null, an axis or an array of axes, whole numbers" + range_text(field)};
  }
  std::set<std::int64_t> sorted;
  for (const Json& axis : list) sorted.insert(normal_number(axis).get<std::int64_t>());
  return Json(sorted);
}

/// Keras takes the classes 0 to n - 1 alone.
Value class_weight(const Json& value) {
  Json result = Json::object();
  for (std::size_t k = 0; value.is_object() && k < value.size(); ++k) {
    const Json* weight = member(value, std::to_string(k));
    if (weight == nullptr || !weight->is_number() || !std::isfinite(weight->get<double>())) break;
    result[std::to_string(k)] = normal_number(*weight);
  }
  if (!result.empty() && result.size() == value.size()) return result;
  return NotAllowed{"null, or {\"0\": weight, \"1\": weight, ...} with a number for each class"};
}

Value single(const Field& field, const Json& value) {
  const Json one = value.is_array() ? value : Json::array({value});
  if (one.size() == 1 && all_integers(field, one)) return normal_numbers(one);
  return NotAllowed{"n or [n], a whole number" + range_text(field)};
}

/// n or [n, n]; nullopt for any other value.
std::optional<Json> both_sides(const Field& field, const Json& value) {
  const Json both = value.is_array() ? value : Json::array({value, value});
  if (both.size() != 2 || !all_integers(field, both)) return std::nullopt;
  return normal_numbers(both);
}

Value pair(const Field& field, const Json& value) {
  if (auto both = both_sides(field, value)) return *std::move(both);
  return NotAllowed{"n or [n, n] of whole numbers" + range_text(field)};
}

Value padding(const Field& field, const Json& value) {
  const Json sides = value.is_array() ? value : Json::array({value, value});
  Json result = Json::array();
  for (const Json& side : sides) {
    if (auto both = both_sides(field, side)) result.push_back(*std::move(both));
  }
  if (sides.size() == 2 && result.size() == 2) return result;
  return NotAllowed{"n, [n, n] or [[n, n], [n, n]] of whole numbers" + range_text(field)};
}

Value numbers(const Field& field, const Json& value) {
  const Json list = flat(value);
  const auto fits = [](const Json& item) {
    return item.is_number() && std::isfinite(item.get<double>());
  };
  if (!list.empty() && std::all_of(list.begin(), list.end(), fits)) {
    return normal_numbers(value.is_array() ? list : value);
  }
  return NotAllowed{"a number or an array of numbers" + or_null(field)};
}

Value extents(const Field& field, const Json& value) {
  if (value.is_array() && value.size() <= kMaxRank && all_integers(field, value)) {
    return normal_numbers(value);
  }
  return NotAllowed{"an array of at most " + std::to_string(kMaxRank) + " whole numbers" +
                    range_text(field)};
}

Value axis(const Field& field, const Json& value) {
  const Json& one = value.is_array() && value.size() == 1 ? value.front() : value;
  if (is_integer(one) && in_range(field, one.get<double>())) return normal_number(one);
  return NotAllowed{"one axis"};
}

Value number(const Field& field, const Json& value, bool whole) {
  if ((whole ? is_integer(value) : value.is_number()) && in_range(field, value.get<double>())) {
    return normal_number(value);
  }
  return NotAllowed{(whole ? "a whole number" : "a number") + range_text(field) + or_null(field)};
}

Value fixed(const Field& field, const Json& value) {
  if (normal_number(value) == normal_number(*field.fallback)) return *field.fallback;
  return NotAllowed{shown(*field.fallback) + " (other values are not supported)"};
}

/// The value itself where it `fits`.
Value if_fits(bool fits, Json value, const std::string& allowed) {
  if (fits) return value;
  return NotAllowed{allowed};
}

}  // namespace

std::string or_null(const Field& field) {
  return field.fallback && field.fallback->is_null() ? " or null" : "";
}

std::optional<std::variant<Json, NotAllowed>> plain_value(const Field& field, const Json& value) {
  switch (field.type) {
    case FieldType::kInteger:
      return number(field, value, true);
    case FieldType::kNumber:
      return number(field, value, false);
    case FieldType::kBoolean:
      return if_fits(value.is_boolean(), value, "true or false");
    case FieldType::kText:
      return text(field, value);
    case FieldType::kLabel:
      return if_fits(value.is_string() && !value.get_ref<const std::string&>().empty(), value,
                     "a text");
    case FieldType::kObject:
      return if_fits(value.is_object(), normal_numbers(value), "an object" + or_null(field));
    case FieldType::kList:
      return if_fits(value.is_array(), normal_numbers(value), "an array");
    case FieldType::kFixed:
      return fixed(field, value);
    case FieldType::kDtype:
      return dtype(value);
    case FieldType::kBatchShape:
      return batch_shape(value);
    case FieldType::kSingle:
      return single(field, value);
    case FieldType::kPair:
      return pair(field, value);
    case FieldType::kPadding:
      return padding(field, value);
    case FieldType::kExtents:
      return extents(field, value);
    case FieldType::kAxis:
      return axis(field, value);
    case FieldType::kAxes:
      return axes(field, value);
    case FieldType::kNumbers:
      return numbers(field, value);
    case FieldType::kClassWeight:
      return class_weight(value);
    case FieldType::kLayerList:
      return layer_list(value);
    default:
      return std::nullopt;
  }
}

std::string missing_value_text(const Field& field) {
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

}  // namespace neutra::program
