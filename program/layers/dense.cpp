#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& dense() {
  static const Layer layer{
      .class_name = "Dense",
      .kind = LayerKind::kDense,
      .aliases = {},
      .fields = with_kernel_fields({{.name = "units",
                                     .type = FieldType::kInteger,
                                     .low = 1,
                                     .high = static_cast<double>(kMaxElements)}}),
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.empty()) return wrong_rank(input, "at least one extent");
        // With more extents Keras multiplies along the last axis.
        Shape output = input;
        output.back() = config.at("units");
        return output;
      },
      .weights =
          [](const Json& config, const Shape& input) {
            return kernel_weights(config, {input.back(), config.at("units")});
          },
      .masks_output = keep_mask,
      .kernel_mutates = true};
  return layer;
}

}  // namespace neutra::program::layer
