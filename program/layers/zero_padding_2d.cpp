#include "program/layers/windows.h"

namespace neutra::program::layer {

const Layer& zero_padding_2d() {
  static const Layer layer{
      .class_name = "ZeroPadding2D",
      .kind = LayerKind::kRearrange,
      .aliases = {},
      .fields = {{.name = "padding",
                  .type = FieldType::kPadding,
                  .fallback = 1,
                  .low = 0,
                  .high = kMaxWindow},
                 channels_last_field()},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.size() != 3) return wrong_rank(input, "(height, width, channels)");
        const auto padding = config.at("padding").get<std::vector<Shape>>();
        return Shape{input[0] + padding[0][0] + padding[0][1],
                     input[1] + padding[1][0] + padding[1][1], input[2]};
      }};
  return layer;
}

}  // namespace neutra::program::layer
