#include "program/layer.h"
#include "program/layers/windows.h"

namespace neutra::layer {
namespace {

Layer pooling(const std::string& class_name, const std::string& alias) {
  return {
      .class_name = class_name,
      .aliases = {alias},
      .fields = {window_field("pool_size", Json::array({2, 2})),
                 window_field("strides", Json()),  // null: the pool's own size
                 padding_field(), channels_last_field()},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.size() != 3) return wrong_rank(input, "(height, width, channels)");
        const Json& strides = config.at(config.at("strides").is_null() ? "pool_size" : "strides");
        return slide(config, "pool_size", strides.get<Shape>(), {1, 1}, input, input[2]);
      }};
}

Layer global_pooling(const std::string& class_name, const std::string& alias) {
  return {.class_name = class_name,
          .aliases = {alias},
          .fields = {channels_last_field(),
                     {.name = "keepdims", .type = FieldType::kFixed, .fallback = false}},
          .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
            if (input.size() != 3) return wrong_rank(input, "(height, width, channels)");
            return Shape{input[2]};
          }};
}

}  // namespace

const Layer& average_pooling_2d() {
  static const Layer layer = pooling("AveragePooling2D", "AvgPool2D");
  return layer;
}

const Layer& max_pooling_2d() {
  static const Layer layer = pooling("MaxPooling2D", "MaxPool2D");
  return layer;
}

const Layer& global_average_pooling_2d() {
  static const Layer layer = global_pooling("GlobalAveragePooling2D", "GlobalAvgPool2D");
  return layer;
}

const Layer& global_max_pooling_2d() {
  static const Layer layer = global_pooling("GlobalMaxPooling2D", "GlobalMaxPool2D");
  return layer;
}

}  // namespace neutra::layer
