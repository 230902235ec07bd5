#include "program/layers/windows.h"

namespace neutra::layer {

Field window_field(const std::string& name, Json fallback) {
  return {.name = name,
          .type = FieldType::kPair,
          .fallback = std::move(fallback),
          .low = 1,
          .high = kMaxWindow};
}

Field padding_field() {
  return {
      .name = "padding", .type = FieldType::kText, .fallback = "valid", .words = {"valid", "same"}};
}

std::variant<Shape, Refusal> slide(const Json& config, const std::string& kernel,
                                   const Shape& strides, const Shape& dilation, const Shape& image,
                                   std::int64_t channels) {
  const Shape window = config.at(kernel).get<Shape>();
  const bool same = config.at("padding") == "same";
  Shape output;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = (window[axis] - 1) * dilation[axis] + 1;
    if (!same && extent > image[axis]) {
      return Refusal{kernel, to_string(window) + " on an input " + to_string(image),
                     "windows within the input, or padding \"same\""};
    }
    const std::int64_t positions = same ? image[axis] : image[axis] - extent + 1;
    output.push_back((positions + strides[axis] - 1) / strides[axis]);
  }
  output.push_back(channels);
  return output;
}

}  // namespace neutra::layer
