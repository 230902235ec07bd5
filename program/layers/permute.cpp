#include <algorithm>
#include <numeric>

#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& permute() {
  static const Layer layer{
      .class_name = "Permute",
      .kind = LayerKind::kRearrange,
      .aliases = {},
      .fields = {{.name = "dims", .type = FieldType::kExtents, .low = 1, .high = 16}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        const Shape dims = config.at("dims").get<Shape>();
        Shape axes(input.size());  // Keras counts them from 1, behind the batch
        std::iota(axes.begin(), axes.end(), 1);
        if (!std::is_permutation(axes.begin(), axes.end(), dims.begin(), dims.end())) {
          return Refusal{"dims", to_string(dims) + " for an input " + to_string(input),
                         "each of " + to_string(axes) + " once"};
        }
        Shape output;
        for (const std::int64_t axis : dims) {
          output.push_back(input[static_cast<std::size_t>(axis) - 1]);
        }
        return output;
      }};
  return layer;
}

}  // namespace neutra::program::layer
