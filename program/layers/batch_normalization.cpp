#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& batch_normalization() {
  using enum FieldType;
  static const Layer layer{
      .class_name = "BatchNormalization",
      .kind = LayerKind::kNormalization,
      .aliases = {"BatchNormalizationV1", "BatchNormalizationV2"},
      .fields = {{.name = "axis", .type = kAxis, .fallback = -1, .low = -100, .high = 100},
                 {.name = "momentum", .type = kNumber, .fallback = 0.99, .low = 0, .high = 1},
                 {.name = "epsilon", .type = kNumber, .fallback = 0.001, .low = 0},
                 {.name = "center", .type = kBoolean, .fallback = true},
                 {.name = "scale", .type = kBoolean, .fallback = true},
                 initializer_field("beta_initializer", "zeros"),
                 initializer_field("gamma_initializer", "ones"),
                 initializer_field("moving_mean_initializer", "zeros"),
                 initializer_field("moving_variance_initializer", "ones"),
                 regularizer_field("beta_regularizer"),
                 regularizer_field("gamma_regularizer"),
                 constraint_field("beta_constraint"),
                 constraint_field("gamma_constraint"),
                 {.name = "sample_variance", .type = kBoolean, .fallback = false},
                 {.name = "renorm", .type = kFixed, .fallback = false},
                 {.name = "virtual_batch_size", .type = kFixed, .fallback = Json()},
                 {.name = "adjustment", .type = kFixed, .fallback = Json()},
                 {.name = "synchronized", .type = kFixed, .fallback = false},
                 {.name = "fused"}},
      .output_shape = along_last_axis,
      .weights =
          [](const Json& config, const Shape& input) {
            const Shape channels{input.back()};
            std::vector<Weight> weights;
            if (config.at("scale").get<bool>()) {
              weights.push_back({"gamma", "gamma_initializer", channels});
            }
            if (config.at("center").get<bool>()) {
              weights.push_back({"beta", "beta_initializer", channels});
            }
            weights.push_back({"moving_mean", "moving_mean_initializer", channels, false});
            weights.push_back({"moving_variance", "moving_variance_initializer", channels, false});
            return weights;
          },
      .masks_output = keep_mask,
      .updates_statistics = true};
  return layer;
}

}  // namespace neutra::program::layer
