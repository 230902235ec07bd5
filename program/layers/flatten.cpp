#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& flatten() {
  static const Layer layer{
      .class_name = "Flatten",
      .kind = LayerKind::kReshape,
      .aliases = {},
      .fields = {channels_last_field()},
      .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
        return Shape{element_count(input)};
      }};
  return layer;
}

}  // namespace neutra::program::layer
