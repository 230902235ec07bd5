#include "program/layer.h"
#include "program/layers/windows.h"

namespace neutra::layer {

const Layer& conv_2d() {
  Field kernel_size = window_field("kernel_size", Json());
  kernel_size.fallback.reset();
  constexpr double kMax = static_cast<double>(kMaxElements);
  static const Layer layer{
      .class_name = "Conv2D",
      .aliases = {"Convolution2D"},
      .fields = with_kernel_fields(
          {{.name = "filters", .type = FieldType::kInteger, .low = 1, .high = kMax},
           kernel_size,
           window_field("strides", Json::array({1, 1})),
           padding_field(),
           channels_last_field(),
           window_field("dilation_rate", Json::array({1, 1})),
           {.name = "groups", .type = FieldType::kInteger, .fallback = 1, .low = 1, .high = kMax}}),
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (input.size() != 3) return wrong_rank(input, "(height, width, channels)");
        const Shape strides = config.at("strides").get<Shape>();
        const Shape dilation = config.at("dilation_rate").get<Shape>();
        const std::int64_t filters = config.at("filters"), groups = config.at("groups");
        if (strides != Shape{1, 1} && dilation != Shape{1, 1}) {
          return Refusal{"dilation_rate",
                         to_string(dilation) + " with strides " + to_string(strides),
                         "one of the two to be 1"};
        }
        if (input[2] % groups != 0 || filters % groups != 0) {
          return Refusal{"groups",
                         std::to_string(groups) + " for " + std::to_string(input[2]) +
                             " input channels and " + std::to_string(filters) + " filters",
                         "a divisor of both"};
        }
        return slide(config, "kernel_size", strides, dilation, input, filters);
      },
      .weights =
          [](const Json& config, const Shape& input) {
            Shape kernel = config.at("kernel_size").get<Shape>();
            kernel.push_back(input.back() / config.at("groups").get<std::int64_t>());
            kernel.push_back(config.at("filters"));
            return kernel_weights(config, kernel);
          }};
  return layer;
}

}  // namespace neutra::layer
