#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& repeat_vector() {
  static const Layer layer{
      .class_name = "RepeatVector",
      .kind = LayerKind::kRearrange,
      .aliases = {},
      .fields = {{.name = "n",
                  .type = FieldType::kInteger,
                  .low = 1,
                  .high = static_cast<double>(kMaxElements)}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.size() != 1) return wrong_rank(input, "one extent, (features)");
        return Shape{config.at("n").get<std::int64_t>(), input[0]};
      }};
  return layer;
}

}  // namespace neutra::program::layer
