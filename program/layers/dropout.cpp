#include "program/layers/fields.h"

/// Layers that drop or scale values at random in training.
namespace neutra::program::layer {
namespace {

Field rate_field() {
  return {.name = "rate",
          .type = FieldType::kNumber,
          .low = 0,
          .high = 1,
          .open_high = true,
          .aliases = {"p"}};
}

std::vector<Field> dropout_fields() {
  return {rate_field(),
          {.name = "noise_shape", .type = FieldType::kFixed, .fallback = Json()},
          {.name = "seed"}};
}

Layer spatial_dropout(std::string class_name, std::vector<Field> more,
                      std::variant<Shape, Refusal> (*output_shape)(const Json&, const Shape&)) {
  std::vector<Field> fields = dropout_fields();
  fields.insert(fields.end(), more.begin(), more.end());
  return {.class_name = std::move(class_name),
          .kind = LayerKind::kDropout,
          .aliases = {},
          .fields = std::move(fields),
          .output_shape = output_shape,
          .masks_output = keep_mask};
}

}  // namespace

const Layer& dropout() {
  static const Layer layer{.class_name = "Dropout",
                           .kind = LayerKind::kDropout,
                           .aliases = {},
                           .fields = dropout_fields(),
                           .output_shape = same_shape,
                           .masks_output = keep_mask};
  return layer;
}

const Layer& gaussian_dropout() {
  static const Layer layer{.class_name = "GaussianDropout",
                           .kind = LayerKind::kDropout,
                           .aliases = {},
                           .fields = {rate_field(), {.name = "seed"}},
                           .output_shape = same_shape,
                           .masks_output = keep_mask};
  return layer;
}

const Layer& spatial_dropout_1d() {
  static const Layer layer = spatial_dropout(
      "SpatialDropout1D", {}, [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.size() != 2) return wrong_rank(input, "(steps, channels)");
        return input;
      });
  return layer;
}

const Layer& spatial_dropout_2d() {
  static const Layer layer =
      spatial_dropout("SpatialDropout2D", {channels_last_field()},
                      [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
                        if (input.size() != 3) {
                          return wrong_rank(input, "(height, width, channels)");
                        }
                        return input;
                      });
  return layer;
}

}  // namespace neutra::program::layer
