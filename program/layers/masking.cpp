#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& masking() {
  static const Layer layer{
      .class_name = "Masking",
      .kind = LayerKind::kMasking,
      .aliases = {},
      .fields = {{.name = "mask_value", .type = FieldType::kNumber, .fallback = 0}},
      .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.size() != 2) return wrong_rank(input, "(steps, features)");
        return input;
      },
      .masks_output = [](const Json&, bool) { return true; }};
  return layer;
}

}  // namespace neutra::program::layer
