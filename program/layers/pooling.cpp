#include "program/layers/windows.h"

namespace neutra::program::layer {
namespace {

Layer pooling(const std::string& class_name, const std::string& alias, std::size_t axes) {
  return {
      .class_name = class_name,
      .kind = LayerKind::kPooling,
      .aliases = {alias},
      .fields = {window_field("pool_size", axes, 2),
                 window_field("strides", axes, Json()),  // null: the pool's own size
                 padding_field(), channels_last_field()},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        const Json& window = config.at("pool_size");
        if (auto wrong = wrong_axes(input, window.size())) return *wrong;
        const Json& strides = config.at("strides").is_null() ? window : config.at("strides");
        return slide(config, "pool_size", strides.get<Shape>(), Shape(window.size(), 1), input,
                     input.back());
      }};
}

template <std::size_t kAxes>
Layer global_pooling(const std::string& class_name, const std::string& alias) {
  return {.class_name = class_name,
          .kind = LayerKind::kPooling,
          .aliases = {alias},
          .fields = {channels_last_field(),
                     {.name = "keepdims", .type = FieldType::kFixed, .fallback = false}},
          .output_shape = [](const Json&, const Shape& input) -> std::variant<Shape, Refusal> {
            if (auto wrong = wrong_axes(input, kAxes)) return *wrong;
            return Shape{input.back()};
          }};
}

}  // namespace

const Layer& average_pooling_1d() {
  static const Layer layer = pooling("AveragePooling1D", "AvgPool1D", kSequence);
  return layer;
}

const Layer& average_pooling_2d() {
  static const Layer layer = pooling("AveragePooling2D", "AvgPool2D", kImage);
  return layer;
}

const Layer& max_pooling_1d() {
  static const Layer layer = pooling("MaxPooling1D", "MaxPool1D", kSequence);
  return layer;
}

const Layer& max_pooling_2d() {
  static const Layer layer = pooling("MaxPooling2D", "MaxPool2D", kImage);
  return layer;
}

const Layer& global_average_pooling_1d() {
  static const Layer layer = [] {
    Layer made = global_pooling<kSequence>("GlobalAveragePooling1D", "GlobalAvgPool1D");
    made.uses_mask = true;  // the mean is that of the steps that count
    return made;
  }();
  return layer;
}

const Layer& global_average_pooling_2d() {
  static const Layer layer = global_pooling<kImage>("GlobalAveragePooling2D", "GlobalAvgPool2D");
  return layer;
}

const Layer& global_max_pooling_1d() {
  static const Layer layer = global_pooling<kSequence>("GlobalMaxPooling1D", "GlobalMaxPool1D");
  return layer;
}

const Layer& global_max_pooling_2d() {
  static const Layer layer = global_pooling<kImage>("GlobalMaxPooling2D", "GlobalMaxPool2D");
  return layer;
}

}  // namespace neutra::program::layer
