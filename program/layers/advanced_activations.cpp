#include "program/layer.h"

/// The activations that have a layer class of their own.
namespace neutra::layer {
namespace {

std::variant<Shape, Refusal> same_shape(const Json&, const Shape& input) { return input; }

}  // namespace

const Layer& elu() {
  static const Layer layer{.class_name = "ELU",
                           .aliases = {},
                           .fields = {{.name = "alpha", .type = FieldType::kNumber, .fallback = 1}},
                           .output_shape = same_shape};
  return layer;
}

const Layer& leaky_relu() {
  static const Layer layer{
      .class_name = "LeakyReLU",
      .aliases = {},
      .fields = {{.name = "alpha", .type = FieldType::kNumber, .fallback = 0.3}},
      .output_shape = same_shape};
  return layer;
}

const Layer& relu() {
  static const Layer layer{
      .class_name = "ReLU",
      .aliases = {},
      .fields = {{.name = "max_value", .type = FieldType::kNumber, .fallback = Json(), .low = 0},
                 {.name = "negative_slope", .type = FieldType::kNumber, .fallback = 0, .low = 0},
                 {.name = "threshold", .type = FieldType::kNumber, .fallback = 0, .low = 0}},
      .output_shape = same_shape};
  return layer;
}

const Layer& softmax() {
  static const Layer layer{
      .class_name = "Softmax",
      .aliases = {},
      .fields =
          {{.name = "axis", .type = FieldType::kAxis, .fallback = -1, .low = -100, .high = 100}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.empty()) return wrong_rank(input, "at least one extent");
        // Keras counts the batch as axis 0.
        const std::int64_t axis = config.at("axis");
        if (axis != -1 && axis != static_cast<std::int64_t>(input.size())) {
          return Refusal{"axis", std::to_string(axis), "-1, the last axis (others not supported)"};
        }
        return input;
      }};
  return layer;
}

}  // namespace neutra::layer
