#include "program/layers/fields.h"

/// The activations that have a layer class of their own.
namespace neutra::program::layer {
const Layer& elu() {
  static const Layer layer{.class_name = "ELU",
                           .kind = LayerKind::kActivation,
                           .aliases = {},
                           .fields = {{.name = "alpha", .type = FieldType::kNumber, .fallback = 1}},
                           .output_shape = same_shape,
                           .masks_output = keep_mask};
  return layer;
}

const Layer& leaky_relu() {
  static const Layer layer{
      .class_name = "LeakyReLU",
      .kind = LayerKind::kActivation,
      .aliases = {},
      .fields = {{.name = "alpha", .type = FieldType::kNumber, .fallback = 0.3}},
      .output_shape = same_shape,
      .masks_output = keep_mask};
  return layer;
}

const Layer& prelu() {
  static const Layer layer{
      .class_name = "PReLU",
      .kind = LayerKind::kActivation,
      .aliases = {},
      .fields = {initializer_field("alpha_initializer", "zeros"),
                 regularizer_field("alpha_regularizer"),
                 constraint_field("alpha_constraint"),
                 {.name = "shared_axes",
                  .type = FieldType::kAxes,
                  .fallback = Json(),
                  .low = 1,
                  .high = 100}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        // Keras counts the batch as axis 0.
        for (const Json& axis : config.at("shared_axes")) {
          if (axis.get<std::size_t>() <= input.size()) continue;
          return Refusal{"shared_axes", axis.dump() + " for an input " + to_string(input),
                         "axes from 1 to " + std::to_string(input.size())};
        }
        return input;
      },
      .weights =
          [](const Json& config, const Shape& input) {
            Shape shape = input;
            for (const Json& axis : config.at("shared_axes")) {
              shape[axis.get<std::size_t>() - 1] = 1;
            }
            return std::vector<Weight>{{"alpha", "alpha_initializer", std::move(shape)}};
          },
      .masks_output = keep_mask};
  return layer;
}

const Layer& relu() {
  static const Layer layer{
      .class_name = "ReLU",
      .kind = LayerKind::kActivation,
      .aliases = {},
      .fields = {{.name = "max_value", .type = FieldType::kNumber, .fallback = Json(), .low = 0},
                 {.name = "negative_slope", .type = FieldType::kNumber, .fallback = 0, .low = 0},
                 {.name = "threshold", .type = FieldType::kNumber, .fallback = 0, .low = 0}},
      .output_shape = same_shape,
      .masks_output = keep_mask};
  return layer;
}

const Layer& softmax() {
  static const Layer layer{
      .class_name = "Softmax",
      .kind = LayerKind::kActivation,
      .aliases = {},
      .fields =
          {{.name = "axis", .type = FieldType::kAxis, .fallback = -1, .low = -100, .high = 100}},
      .output_shape = along_last_axis,
      .masks_output = keep_mask,
      .uses_mask = true,
      .refuse_mask = [](const Json&) -> std::optional<Refusal> {
        // tf.keras adds the mask of steps to the classes' scores.
        return Refusal{"", "a Softmax layer behind a mask of steps",
                       "an Activation layer with softmax"};
      },
      .activation = "softmax"};
  return layer;
}

}  // namespace neutra::program::layer
