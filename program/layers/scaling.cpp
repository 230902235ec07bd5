#include "program/layers/scaling.h"

#include "program/layers/fields.h"

/// Layers that scale their input by numbers that no training changes.
namespace neutra::program {
namespace {

/// The positions in a row's shape of the axes that have statistics of their own, ascending. Keras
/// counts the batch as axis 0.
std::vector<std::size_t> own_axes(const Json& config, const Shape& input) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto from_front = static_cast<std::int64_t>(i) + 1;
    const std::int64_t from_back = from_front - static_cast<std::int64_t>(input.size()) - 1;
    for (const Json& axis : config.at("axis")) {
      if (axis != from_front && axis != from_back) continue;
      axes.push_back(i);
      break;
    }
  }
  return axes;
}

}  // namespace

std::vector<float> spread(const Json& numbers, std::int64_t count) {
  const Json list = numbers.is_array() ? numbers : Json::array({numbers});
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(list[list.size() == 1 ? 0 : static_cast<std::size_t>(i)].get<float>());
  }
  return values;
}

Shape statistics_shape(const Json& config, const Shape& input) {
  Shape shape;
  for (const std::size_t axis : own_axes(config, input)) shape.push_back(input[axis]);
  return shape;
}

Shape statistics_extents(const Json& config, const Shape& input) {
  Shape extents(input.size(), 1);
  for (const std::size_t axis : own_axes(config, input)) extents[axis] = input[axis];
  return extents;
}

namespace layer {
namespace {

/// Nothing where a field's numbers fit `count` places.
std::optional<Refusal> wrong_count(const Json& config, const std::string& field,
                                   std::int64_t count) {
  const Json& numbers = config.at(field);
  if (!numbers.is_array() || numbers.size() == 1 ||
      static_cast<std::int64_t>(numbers.size()) == count) {
    return std::nullopt;
  }
  return Refusal{field, std::to_string(numbers.size()) + " numbers",
                 "one number" + (count > 1 ? " or " + std::to_string(count) : std::string())};
}

/// How a variable starts that Keras has no argument for.
Field fixed_initializer(const std::string& name, const char* class_name) {
  return {.name = name,
          .type = FieldType::kFixed,
          .fallback = Json{{"class_name", class_name}, {"config", Json::object()}}};
}

}  // namespace

const Layer& rescaling() {
  static const Layer layer{
      .class_name = "Rescaling",
      .kind = LayerKind::kScaling,
      .aliases = {},
      .fields = {{.name = "scale", .type = FieldType::kNumbers},
                 {.name = "offset", .type = FieldType::kNumbers, .fallback = 0}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        for (const char* field : {"scale", "offset"}) {
          if (auto wrong = wrong_count(config, field, input.empty() ? 1 : input.back())) {
            return *wrong;
          }
        }
        return input;
      }};
  return layer;
}

/// Statistics are arguments, or variables that adapt() sets. Those that a model file holds become
/// arguments when it is read (program/formats/keras_model.h).
const Layer& normalization() {
  using enum FieldType;
  static const Layer layer{
      .class_name = "Normalization",
      .kind = LayerKind::kScaling,
      .aliases = {},
      .fields = {{.name = "axis", .type = kAxes, .fallback = -1, .low = -100, .high = 100},
                 {.name = "mean", .type = kNumbers, .fallback = Json()},
                 {.name = "variance", .type = kNumbers, .fallback = Json()},
                 {.name = "invert", .type = kBoolean, .fallback = false},
                 fixed_initializer("mean_initializer", "Zeros"),
                 fixed_initializer("variance_initializer", "Ones")},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        const Json& axes = config.at("axis");
        if (own_axes(config, input).size() != axes.size()) {
          return Refusal{"axis", axes.dump() + " for an input " + to_string(input),
                         "null, or different axes of the input but the batch's"};
        }
        const bool mean = !config.at("mean").is_null(), variance = !config.at("variance").is_null();
        if (mean != variance) {
          return Refusal{mean ? "variance" : "mean", "null", "both, or none of the two"};
        }
        const std::int64_t count = element_count(statistics_extents(config, input));
        for (const char* field : {"mean", "variance"}) {
          if (auto wrong = wrong_count(config, field, count)) return *wrong;
        }
        for (const Json& value : config.at("variance")) {
          if (value < 0) return Refusal{"variance", value.dump(), "numbers of at least 0"};
        }
        return input;
      },
      .weights =
          [](const Json& config, const Shape& input) {
            if (!config.at("mean").is_null()) return std::vector<Weight>{};
            const Shape shape = statistics_shape(config, input);
            return std::vector<Weight>{{"mean", "mean_initializer", shape, false},
                                       {"variance", "variance_initializer", shape, false}};
          },
      .adapts_to_data = true};
  return layer;
}

}  // namespace layer
}  // namespace neutra::program
