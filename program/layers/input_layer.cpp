#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& input_layer() {
  static const Layer layer{
      .class_name = "InputLayer",
      .kind = LayerKind::kInput,
      .aliases = {},
      .fields = {{.name = "sparse", .type = FieldType::kFixed, .fallback = false},
                 {.name = "ragged", .type = FieldType::kFixed, .fallback = false},
                 {.name = "optional", .type = FieldType::kFixed, .fallback = false}},
      .output_shape = same_shape};
  return layer;
}

}  // namespace neutra::program::layer
