#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& gaussian_noise() {
  static const Layer layer{
      .class_name = "GaussianNoise",
      .kind = LayerKind::kNoise,
      .aliases = {},
      .fields = {{.name = "stddev", .type = FieldType::kNumber, .low = 0, .high = 3e38},
                 {.name = "seed"}},
      .output_shape = same_shape,
      .masks_output = keep_mask};
  return layer;
}

}  // namespace neutra::program::layer
