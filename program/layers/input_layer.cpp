#include "program/layer.h"

namespace neutra::program::layer {

const Layer& input_layer() {
  static const Layer layer{
      .class_name = "InputLayer",
      .aliases = {},
      .fields = {{.name = "sparse", .type = FieldType::kFixed, .fallback = false},
                 {.name = "ragged", .type = FieldType::kFixed, .fallback = false},
                 {.name = "optional", .type = FieldType::kFixed, .fallback = false}},
      .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
        return input;
      }};
  return layer;
}

}  // namespace neutra::program::layer
