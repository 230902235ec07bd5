#include "program/layers/windows.h"

#include <algorithm>

namespace neutra::program::layer {

Field window_field(const std::string& name, std::size_t axes, std::optional<Json> fallback) {
  if (fallback && !fallback->is_null()) fallback = Json(std::vector<Json>(axes, *fallback));
  return {.name = name,
          .type = axes == kSequence ? FieldType::kSingle : FieldType::kPair,
          .fallback = std::move(fallback),
          .low = 1,
          .high = kMaxWindow};
}

Field padding_field(std::vector<std::string> words) {
  return {
      .name = "padding", .type = FieldType::kText, .fallback = "valid", .words = std::move(words)};
}

std::optional<Refusal> wrong_axes(const Shape& input, std::size_t axes) {
  if (input.size() == axes + 1) return std::nullopt;
  return wrong_rank(input, axes == kSequence ? "(steps, channels)" : "(height, width, channels)");
}

std::variant<Shape, Refusal> slide(const Json& config, const std::string& kernel,
                                   const Shape& strides, const Shape& dilation, const Shape& input,
                                   std::int64_t channels) {
  const Shape window = config.at(kernel).get<Shape>();
  const bool valid = config.at("padding") == "valid";
  Shape output;
  for (std::size_t axis = 0; axis < window.size(); ++axis) {
    const std::int64_t extent = (window[axis] - 1) * dilation[axis] + 1;
    if (valid && extent > input[axis]) {
      return Refusal{kernel, to_string(window) + " on an input " + to_string(input),
                     "windows within the input, or padding \"same\""};
    }
    const std::int64_t positions = valid ? input[axis] - extent + 1 : input[axis];
    output.push_back((positions + strides[axis] - 1) / strides[axis]);
  }
  output.push_back(channels);
  return output;
}

std::variant<Shape, Refusal> convolve(const Json& config, const Shape& input,
                                      std::int64_t filters) {
  const Shape strides = config.at("strides").get<Shape>();
  const Shape dilation = config.at("dilation_rate").get<Shape>();
  const auto several = [](std::int64_t n) { return n != 1; };
  if (std::any_of(strides.begin(), strides.end(), several) &&
      std::any_of(dilation.begin(), dilation.end(), several)) {
    return Refusal{"dilation_rate", to_string(dilation) + " with strides " + to_string(strides),
                   "one of the two to be 1"};
  }
  return slide(config, "kernel_size", strides, dilation, input, filters);
}

}  // namespace neutra::program::layer
