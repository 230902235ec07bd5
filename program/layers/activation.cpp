#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& activation() {
  static const Layer layer{
      .class_name = "Activation",
      .kind = LayerKind::kActivation,
      .aliases = {},
      .fields = {{.name = "activation", .type = FieldType::kActivation}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.empty() && config.at("activation") == "softmax") {
          return wrong_rank(input, "at least one extent for softmax");
        }
        return input;
      },
      .masks_output = keep_mask};
  return layer;
}

}  // namespace neutra::program::layer
