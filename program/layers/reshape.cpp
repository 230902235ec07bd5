#include <algorithm>

#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& reshape() {
  static const Layer layer{
      .class_name = "Reshape",
      .kind = LayerKind::kReshape,
      .aliases = {},
      .fields = {{.name = "target_shape",
                  .type = FieldType::kExtents,
                  .low = -1,
                  .high = static_cast<double>(kMaxElements)}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        Shape target = config.at("target_shape").get<Shape>();
        const std::int64_t size = element_count(input);
        const std::string elements = " for an input " + to_string(input);
        const auto open = std::find(target.begin(), target.end(), -1);
        if (open == target.end()) {
          if (element_count(target) != size) {
            return Refusal{"target_shape",
                           to_string(target) + " of " + std::to_string(element_count(target)) +
                               " elements" + elements,
                           std::to_string(size) + " elements"};
          }
          return target;
        }
        if (std::count(target.begin(), target.end(), -1) > 1) {
          return Refusal{"target_shape", to_string(target), "-1 at most once"};
        }
        *open = 1;
        const std::int64_t known = element_count(target);
        if (known == 0 || size % known != 0) {
          *open = -1;
          return Refusal{"target_shape", to_string(target) + elements,
                         "extents whose product divides " + std::to_string(size)};
        }
        *open = size / known;
        return target;
      }};
  return layer;
}

}  // namespace neutra::program::layer
