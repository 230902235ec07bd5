#include "program/layers/fields.h"

/// Layers that go through the steps of sequences (steps, features).
namespace neutra::program::layer {
namespace {

void set_default(std::vector<Field>& fields, const std::string& name, const Json& fallback) {
  for (Field& field : fields) {
    if (field.name == name) field.fallback = fallback;
  }
}

Field rate_field(const std::string& name) {
  return {.name = name,
          .type = FieldType::kNumber,
          .fallback = 0,
          .low = 0,
          .high = 1,
          .open_high = true};
}

/// Those that all have, then the others.
std::vector<Field> recurrent_fields(const std::vector<Field>& more = {}) {
  using enum FieldType;
  std::vector<Field> fields = with_kernel_fields({{.name = "units",
                                                   .type = kInteger,
                                                   .low = 1,
                                                   .high = static_cast<double>(kMaxElements / 4)}},
                                                 {"kernel", "recurrent"});
  set_default(fields, "activation", "tanh");
  set_default(fields, "recurrent_initializer", "orthogonal");
  for (const Field& field :
       {rate_field("dropout"), rate_field("recurrent_dropout"),
        Field{.name = "return_sequences", .type = kBoolean, .fallback = false},
        Field{.name = "return_state", .type = kFixed, .fallback = false},
        Field{.name = "go_backwards", .type = kBoolean, .fallback = false},
        Field{.name = "stateful", .type = kFixed, .fallback = false},
        Field{.name = "unroll", .type = kBoolean, .fallback = false},
        Field{.name = "time_major", .type = kFixed, .fallback = false},
        Field{.name = "zero_output_for_mask", .type = kBoolean, .fallback = false},
        Field{.name = "seed"}}) {
    fields.push_back(field);
  }
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::vector<Field> gated_fields(std::vector<Field> own) {
  own.insert(
      own.begin(),
      {{.name = "recurrent_activation", .type = FieldType::kActivation, .fallback = "sigmoid"},
       {.name = "implementation",
        .type = FieldType::kInteger,
        .fallback = 2,
        .low = 1,
        .high = 2}});
  return recurrent_fields(own);
}

/// PyTorch adds a bias to each of the two products, so that each gets the whole gradient.
Field two_biases_field() {
  return {.name = "two_biases", .type = FieldType::kBoolean, .fallback = false};
}

Shape bias_shape(const Json& config, std::int64_t width) {
  return config.at("two_biases").get<bool>() ? Shape{2, width} : Shape{width};
}

std::variant<Shape, Refusal> output_shape(const Json& config, const Shape& input) {
  if (input.size() != 2) return wrong_rank(input, "(steps, features)");
  if (config.value("two_biases", false) && config.value("unit_forget_bias", false)) {
    return Refusal{"unit_forget_bias", "true beside two_biases", "false"};
  }
  const std::int64_t units = config.at("units");
  return config.at("return_sequences").get<bool>() ? Shape{input[0], units} : Shape{units};
}

/// One output of all steps has no mask.
bool mask_sequences(const Json& config, bool masked) {
  return masked && config.at("return_sequences").get<bool>();
}

/// Kernels of `gates` gates, and biases of `bias`.
std::vector<Weight> weights(const Json& config, const Shape& input, std::int64_t gates,
                            Shape bias) {
  const std::int64_t units = config.at("units");
  std::vector<Weight> all{{"kernel", "kernel_initializer", {input.back(), gates * units}},
                          {"recurrent_kernel", "recurrent_initializer", {units, gates * units}}};
  if (config.at("use_bias").get<bool>()) {
    all.push_back({"bias", "bias_initializer", std::move(bias)});
  }
  return all;
}

}  // namespace

const Layer& simple_rnn() {
  static const Layer layer{.class_name = "SimpleRNN",
                           .kind = LayerKind::kRecurrent,
                           .aliases = {},
                           .fields = recurrent_fields({two_biases_field()}),
                           .output_shape = output_shape,
                           .weights =
                               [](const Json& config, const Shape& input) {
                                 const std::int64_t width = config.at("units");
                                 return weights(config, input, 1, bias_shape(config, width));
                               },
                           .masks_output = mask_sequences,
                           .uses_mask = true};
  return layer;
}

const Layer& lstm() {
  static const Layer layer{
      .class_name = "LSTM",
      .kind = LayerKind::kRecurrent,
      .aliases = {},
      .fields =
          gated_fields({{.name = "unit_forget_bias", .type = FieldType::kBoolean, .fallback = true},
                        two_biases_field()}),
      .output_shape = output_shape,
      .weights =
          [](const Json& config, const Shape& input) {
            const std::int64_t width = 4 * config.at("units").get<std::int64_t>();
            return weights(config, input, 4, bias_shape(config, width));
          },
      .masks_output = mask_sequences,
      .uses_mask = true};
  return layer;
}

const Layer& gru() {
  static const Layer layer{
      .class_name = "GRU",
      .kind = LayerKind::kRecurrent,
      .aliases = {},
      .fields =
          gated_fields({{.name = "reset_after", .type = FieldType::kBoolean, .fallback = true}}),
      .output_shape = output_shape,
      .weights =
          [](const Json& config, const Shape& input) {
            const std::int64_t width = 3 * config.at("units").get<std::int64_t>();
            const bool after = config.at("reset_after").get<bool>();
            return weights(config, input, 3, after ? Shape{2, width} : Shape{width});
          },
      .masks_output = mask_sequences,
      .uses_mask = true};
  return layer;
}

}  // namespace neutra::program::layer
