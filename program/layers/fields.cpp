#include "program/layers/fields.h"

namespace neutra::program {

Field activation_field() {
  return {.name = "activation", .type = FieldType::kActivation, .fallback = "linear"};
}

Field initializer_field(const std::string& name, const std::string& fallback) {
  return {.name = name, .type = FieldType::kInitializer, .fallback = fallback};
}

Field regularizer_field(const std::string& name) {
  return {.name = name, .type = FieldType::kRegularizer, .fallback = Json()};
}

Field constraint_field(const std::string& name) {
  return {.name = name, .type = FieldType::kConstraint, .fallback = Json()};
}

Field channels_last_field() {
  return {.name = "data_format",
          .type = FieldType::kFixed,
          .fallback = "channels_last",
          .null_is_default = true};
}

std::vector<Field> with_kernel_fields(std::vector<Field> fields,
                                      const std::vector<std::string>& kernels) {
  fields.push_back(activation_field());
  fields.push_back({.name = "use_bias", .type = FieldType::kBoolean, .fallback = true});
  for (const std::string& kernel : kernels) {
    fields.push_back(initializer_field(kernel + "_initializer", "glorot_uniform"));
  }
  fields.push_back(initializer_field("bias_initializer", "zeros"));
  for (const std::string& kernel : kernels) {
    fields.push_back(regularizer_field(kernel + "_regularizer"));
  }
  fields.push_back(regularizer_field("bias_regularizer"));
  fields.push_back(regularizer_field("activity_regularizer"));
  for (const std::string& kernel : kernels) {
    fields.push_back(constraint_field(kernel + "_constraint"));
  }
  fields.push_back(constraint_field("bias_constraint"));
  return fields;
}

std::vector<Weight> kernel_weights(const Json& config, Shape kernel) {
  const std::int64_t outputs = kernel.back();
  std::vector<Weight> weights{{"kernel", "kernel_initializer", std::move(kernel)}};
  if (config.at("use_bias").get<bool>()) {
    weights.push_back({"bias", "bias_initializer", {outputs}});
  }
  return weights;
}

Refusal wrong_rank(const Shape& input, const std::string& allowed) {
  return {"", "an input " + to_string(input), "an input of " + allowed};
}

std::variant<Shape, Refusal> along_last_axis(const Json& config, const Shape& input) {
  if (input.empty()) return wrong_rank(input, "at least one extent");
  // Keras counts the batch as axis 0.
  const std::int64_t axis = config.at("axis");
  if (axis != -1 && axis != static_cast<std::int64_t>(input.size())) {
    return Refusal{"axis", std::to_string(axis), "-1, the last axis (others not supported)"};
  }
  return input;
}

std::variant<Shape, Refusal> same_shape(const Json&, const Shape& input) { return input; }

bool keep_mask(const Json&, bool masked) { return masked; }

}  // namespace neutra::program
