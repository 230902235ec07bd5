#include <algorithm>

#include "program/layers/windows.h"

namespace neutra::program::layer {
namespace {

constexpr double kMost = static_cast<double>(kMaxElements);

/// Fields of how windows move, behind those that must be given.
std::vector<Field> with_window_fields(std::vector<Field> fields, std::size_t axes,
                                      std::vector<std::string> paddings = {"valid", "same"}) {
  fields.push_back(window_field("kernel_size", axes, std::nullopt));
  fields.push_back(window_field("strides", axes, 1));
  fields.push_back(padding_field(std::move(paddings)));
  fields.push_back(channels_last_field());
  fields.push_back(window_field("dilation_rate", axes, 1));
  return fields;
}

Field filters_field() {
  return {.name = "filters", .type = FieldType::kInteger, .low = 1, .high = kMost};
}

Layer convolution(const std::string& class_name, const std::string& alias, std::size_t axes,
                  std::vector<std::string> paddings) {
  std::vector<Field> fields = with_window_fields({filters_field()}, axes, std::move(paddings));
  fields.push_back(
      {.name = "groups", .type = FieldType::kInteger, .fallback = 1, .low = 1, .high = kMost});
  return {
      .class_name = class_name,
      .kind = LayerKind::kConvolution,
      .aliases = {alias},
      .fields = with_kernel_fields(std::move(fields)),
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (auto wrong = wrong_axes(input, config.at("kernel_size").size())) return *wrong;
        const std::int64_t filters = config.at("filters"), groups = config.at("groups");
        if (input.back() % groups != 0 || filters % groups != 0) {
          return Refusal{"groups",
                         std::to_string(groups) + " for " + std::to_string(input.back()) +
                             " input channels and " + std::to_string(filters) + " filters",
                         "a divisor of both"};
        }
        return convolve(config, input, filters);
      },
      .weights =
          [](const Json& config, const Shape& input) {
            Shape kernel = config.at("kernel_size").get<Shape>();
            kernel.push_back(input.back() / config.at("groups").get<std::int64_t>());
            kernel.push_back(config.at("filters"));
            return kernel_weights(config, kernel);
          }};
}

Field depth_multiplier_field() {
  return {.name = "depth_multiplier",
          .type = FieldType::kInteger,
          .fallback = 1,
          .low = 1,
          .high = kMost};
}

/// Model files name what these layers take over from Conv2D and don't use.
std::vector<Field> with_unused_fields(std::vector<Field> fields, std::vector<std::string> names) {
  fields.push_back({.name = "groups", .type = FieldType::kFixed, .fallback = 1});
  for (std::string& name : names) fields.push_back({.name = std::move(name)});
  return fields;
}

std::int64_t depth(const Json& config, const Shape& input) {
  return input.back() * config.at("depth_multiplier").get<std::int64_t>();
}

/// `filters`: of the output. TensorFlow's kernels of convolutions by channel take equal strides
/// only.
std::variant<Shape, Refusal> convolve_channels(const Json& config, const Shape& input,
                                               std::int64_t filters) {
  const Shape strides = config.at("strides").get<Shape>();
  if (strides[0] != strides[1]) return Refusal{"strides", to_string(strides), "equal strides"};
  if (depth(config, input) > kMaxElements) {
    return Refusal{
        "depth_multiplier",
        config.at("depth_multiplier").dump() + " for " + std::to_string(input.back()) + " channels",
        "at most " + std::to_string(kMaxElements) + " channels"};
  }
  return convolve(config, input, filters);
}

/// The extents of the image whose convolution has the input's: strides and padding make several
/// possible. Source: tf.keras 2.4 utils/conv_utils.py, deconv_output_length; TensorFlow's
/// conv2d_backprop_input compares the input's extents with those that the convolution gives.
std::variant<Shape, Refusal> convolve_transposed(const Json& config, const Shape& input) {
  const Shape kernel = config.at("kernel_size").get<Shape>();
  const Shape strides = config.at("strides").get<Shape>();
  const Shape dilation = config.at("dilation_rate").get<Shape>();
  const Json& more = config.at("output_padding");
  const bool same = config.at("padding") == "same";
  if (dilation != Shape{1, 1} && (dilation[0] != dilation[1] || strides != Shape{1, 1})) {
    return Refusal{"dilation_rate", to_string(dilation) + " with strides " + to_string(strides),
                   "equal rates, and strides of 1 where they aren't 1"};
  }
  Shape output;
  for (std::size_t axis = 0; axis < kImage; ++axis) {
    const std::int64_t window = (kernel[axis] - 1) * dilation[axis] + 1, stride = strides[axis];
    std::int64_t extent = input[axis] * stride;
    if (!more.is_null()) {
      const std::int64_t padding = more[axis];
      extent = (input[axis] - 1) * stride + window - (same ? window / 2 * 2 : 0) + padding;
      const std::int64_t positions = same ? extent : extent - window + 1;
      const bool fits = extent > 0 && (positions + stride - 1) / stride == input[axis];
      if (padding >= stride || !fits) {
        return Refusal{"output_padding",
                       to_string(more.get<Shape>()) + " with strides " + to_string(strides) +
                           " and a kernel " + to_string(kernel),
                       "null, or less than the strides, for an output whose convolution gives the "
                       "input's extents"};
      }
    } else if (!same) {
      extent += std::max<std::int64_t>(window - stride, 0);
    }
    output.push_back(extent);
  }
  output.push_back(config.at("filters"));
  return output;
}

/// The kernel of each channel.
Weight depthwise_kernel(const Json& config, const Shape& input) {
  Shape kernel = config.at("kernel_size").get<Shape>();
  kernel.push_back(input.back());
  kernel.push_back(config.at("depth_multiplier"));
  return {"depthwise_kernel", "depthwise_initializer", std::move(kernel)};
}

void add_bias(std::vector<Weight>& weights, const Json& config, std::int64_t filters) {
  if (config.at("use_bias").get<bool>()) weights.push_back({"bias", "bias_initializer", {filters}});
}

}  // namespace

const Layer& conv_1d() {
  static const Layer layer =
      convolution("Conv1D", "Convolution1D", kSequence, {"valid", "same", "causal"});
  return layer;
}

const Layer& conv_2d() {
  static const Layer layer = [] {
    Layer made = convolution("Conv2D", "Convolution2D", kImage, {"valid", "same"});
    made.kernel_mutates = true;
    return made;
  }();
  return layer;
}

const Layer& conv_2d_transpose() {
  static const Layer layer{
      .class_name = "Conv2DTranspose",
      .kind = LayerKind::kConvolution,
      .aliases = {"Convolution2DTranspose", "Deconvolution2D"},
      .fields = with_kernel_fields(with_unused_fields(
          [] {
            std::vector<Field> fields = with_window_fields({filters_field()}, kImage);
            fields.push_back({.name = "output_padding",
                              .type = FieldType::kPair,
                              .fallback = Json(),
                              .low = 0,
                              .high = kMaxWindow});
            return fields;
          }(),
          {})),
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (auto wrong = wrong_axes(input, kImage)) return *wrong;
        return convolve_transposed(config, input);
      },
      .weights =
          [](const Json& config, const Shape& input) {
            const std::int64_t filters = config.at("filters");
            Shape kernel = config.at("kernel_size").get<Shape>();
            kernel.insert(kernel.end(), {filters, input.back()});
            std::vector<Weight> weights{{"kernel", "kernel_initializer", std::move(kernel)}};
            add_bias(weights, config, filters);
            return weights;
          },
      .transposed_kernel = true};
  return layer;
}

const Layer& depthwise_conv_2d() {
  static const Layer layer{
      .class_name = "DepthwiseConv2D",
      .kind = LayerKind::kConvolution,
      .aliases = {},
      .fields = with_kernel_fields(
          with_unused_fields(
              [] {
                std::vector<Field> fields = with_window_fields({}, kImage);
                fields.push_back(depth_multiplier_field());
                return fields;
              }(),
              {"filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint"}),
          {"depthwise"}),
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (auto wrong = wrong_axes(input, kImage)) return *wrong;
        return convolve_channels(config, input, depth(config, input));
      },
      .weights =
          [](const Json& config, const Shape& input) {
            std::vector<Weight> weights{depthwise_kernel(config, input)};
            add_bias(weights, config, depth(config, input));
            return weights;
          }};
  return layer;
}

const Layer& separable_conv_2d() {
  static const Layer layer{
      .class_name = "SeparableConv2D",
      .kind = LayerKind::kConvolution,
      .aliases = {"SeparableConvolution2D"},
      .fields = with_kernel_fields(
          with_unused_fields(
              [] {
                std::vector<Field> fields = with_window_fields({filters_field()}, kImage);
                fields.push_back(depth_multiplier_field());
                return fields;
              }(),
              {"kernel_initializer", "kernel_regularizer", "kernel_constraint"}),
          {"depthwise", "pointwise"}),
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        if (auto wrong = wrong_axes(input, kImage)) return *wrong;
        return convolve_channels(config, input, config.at("filters"));
      },
      .weights =
          [](const Json& config, const Shape& input) {
            const std::int64_t filters = config.at("filters");
            std::vector<Weight> weights{depthwise_kernel(config, input),
                                        {"pointwise_kernel",
                                         "pointwise_initializer",
                                         {1, 1, depth(config, input), filters}}};
            add_bias(weights, config, filters);
            return weights;
          },
      .separable = true};
  return layer;
}

}  // namespace neutra::program::layer
