#include "program/layer.h"

namespace neutra::layer {

const Layer& dropout() {
  static const Layer layer{
      .class_name = "Dropout",
      .aliases = {},
      .fields = {{.name = "rate",
                  .type = FieldType::kNumber,
                  .low = 0,
                  .high = 1,
                  .open_high = true,
                  .aliases = {"p"}},
                 {.name = "noise_shape", .type = FieldType::kFixed, .fallback = Json()},
                 {.name = "seed"}},
      .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
        return input;
      }};
  return layer;
}

}  // namespace neutra::layer
