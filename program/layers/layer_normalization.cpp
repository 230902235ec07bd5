#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& layer_normalization() {
  using enum FieldType;
  static const Layer layer{
      .class_name = "LayerNormalization",
      .kind = LayerKind::kNormalization,
      .aliases = {},
      .fields = {{.name = "axis", .type = kAxis, .fallback = -1, .low = -100, .high = 100},
                 {.name = "epsilon", .type = kNumber, .fallback = 0.001, .low = 0},
                 {.name = "center", .type = kBoolean, .fallback = true},
                 {.name = "scale", .type = kBoolean, .fallback = true},
                 initializer_field("beta_initializer", "zeros"),
                 initializer_field("gamma_initializer", "ones"),
                 regularizer_field("beta_regularizer"),
                 regularizer_field("gamma_regularizer"),
                 constraint_field("beta_constraint"),
                 constraint_field("gamma_constraint")},
      .output_shape = along_last_axis,
      .weights =
          [](const Json& config, const Shape& input) {
            std::vector<Weight> weights;
            if (config.at("scale").get<bool>()) {
              weights.push_back({"gamma", "gamma_initializer", {input.back()}});
            }
            if (config.at("center").get<bool>()) {
              weights.push_back({"beta", "beta_initializer", {input.back()}});
            }
            return weights;
          },
      .masks_output = keep_mask};
  return layer;
}

}  // namespace neutra::program::layer
