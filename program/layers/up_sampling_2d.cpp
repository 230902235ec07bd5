#include "program/layers/windows.h"

namespace neutra::program::layer {

const Layer& up_sampling_2d() {
  static const Layer layer{
      .class_name = "UpSampling2D",
      .kind = LayerKind::kRearrange,
      .aliases = {},
      .fields = {window_field("size", kImage, 2),
                 channels_last_field(),
                 {.name = "interpolation",
                  .type = FieldType::kText,
                  .fallback = "nearest",
                  .words = {"nearest", "bilinear"}}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (auto wrong = wrong_axes(input, kImage)) return *wrong;
        const Shape size = config.at("size").get<Shape>();
        return Shape{input[0] * size[0], input[1] * size[1], input[2]};
      }};
  return layer;
}

}  // namespace neutra::program::layer
