#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& embedding() {
  using enum FieldType;
  constexpr double kMost = static_cast<double>(kMaxElements);
  static const Layer layer{
      .class_name = "Embedding",
      .kind = LayerKind::kEmbedding,
      .aliases = {},
      .fields =
          {{.name = "input_dim", .type = kInteger, .low = 1, .high = kMost},
           {.name = "output_dim", .type = kInteger, .low = 1, .high = kMost},
           initializer_field("embeddings_initializer", "random_uniform"),
           regularizer_field("embeddings_regularizer"),
           regularizer_field("activity_regularizer"),
           // "Cannot use a constraint function on a sparse variable" (tf.keras 2.4,
           // optimizer_v2.py).
           {.name = "embeddings_constraint", .type = kFixed, .fallback = Json()},
           {.name = "mask_zero", .type = kBoolean, .fallback = false},
           {.name = "input_length", .type = kInteger, .fallback = Json(), .low = 1, .high = kMost}},
      .output_shape = [](const Json& config, const Shape& input) -> std::variant<Shape, Refusal> {
        const Json& length = config.at("input_length");
        if (!length.is_null() && input != Shape{length.get<std::int64_t>()}) {
          return Refusal{"input_length", length.dump() + " for an input " + to_string(input),
                         "null, or the number of indices in a row"};
        }
        if (config.at("mask_zero").get<bool>() && input.size() != 1) {
          return Refusal{"mask_zero", "true for an input " + to_string(input),
                         "false, or rows of one extent: (steps)"};
        }
        Shape output = input;
        output.push_back(config.at("output_dim"));
        return output;
      },
      .weights =
          [](const Json& config, const Shape&) {
            return std::vector<Weight>{{"embeddings",
                                        "embeddings_initializer",
                                        {config.at("input_dim"), config.at("output_dim")}}};
          },
      .masks_output = [](const Json& config, bool) -> bool { return config.at("mask_zero"); }};
  return layer;
}

}  // namespace neutra::program::layer
