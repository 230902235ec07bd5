#include "program/layer.h"

namespace neutra::program::layer {

const Layer& gaussian_noise() {
  static const Layer layer{
      .class_name = "GaussianNoise",
      .aliases = {},
      .fields = {{.name = "stddev", .type = FieldType::kNumber, .low = 0, .high = 3e38},
                 {.name = "seed"}},
      .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
        return input;
      },
      .masks_output = keep_mask};
  return layer;
}

}  // namespace neutra::program::layer
