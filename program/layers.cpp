#include <algorithm>

#include "program/layer.h"

/// All layer classes, sorted by class name: each is defined in program/layers/.
#define NEUTRA_LAYERS(LAYER)       \
  LAYER(activation)                \
  LAYER(average_pooling_1d)        \
  LAYER(average_pooling_2d)        \
  LAYER(batch_normalization)       \
  LAYER(bidirectional)             \
  LAYER(conv_1d)                   \
  LAYER(conv_2d)                   \
  LAYER(conv_2d_transpose)         \
  LAYER(dense)                     \
  LAYER(depthwise_conv_2d)         \
  LAYER(dropout)                   \
  LAYER(elu)                       \
  LAYER(embedding)                 \
  LAYER(flatten)                   \
  LAYER(gaussian_dropout)          \
  LAYER(gaussian_noise)            \
  LAYER(global_average_pooling_1d) \
  LAYER(global_average_pooling_2d) \
  LAYER(global_max_pooling_1d)     \
  LAYER(global_max_pooling_2d)     \
  LAYER(gru)                       \
  LAYER(input_layer)               \
  LAYER(layer_normalization)       \
  LAYER(leaky_relu)                \
  LAYER(lstm)                      \
  LAYER(masking)                   \
  LAYER(max_pooling_1d)            \
  LAYER(max_pooling_2d)            \
  LAYER(normalization)             \
  LAYER(permute)                   \
  LAYER(prelu)                     \
  LAYER(relu)                      \
  LAYER(repeat_vector)             \
  LAYER(rescaling)                 \
  LAYER(reshape)                   \
  LAYER(separable_conv_2d)         \
  LAYER(simple_rnn)                \
  LAYER(softmax)                   \
  LAYER(spatial_dropout_1d)        \
  LAYER(spatial_dropout_2d)        \
  LAYER(time_distributed)          \
  LAYER(up_sampling_2d)            \
  LAYER(zero_padding_2d)

namespace neutra::program {

namespace layer {
#define NEUTRA_DECLARE(name) const Layer& name();
NEUTRA_LAYERS(NEUTRA_DECLARE)
}  // namespace layer

const std::vector<const Layer*>& layers() {
#define NEUTRA_ADDRESS(name) &layer::name(),
  static const std::vector<const Layer*> all = {NEUTRA_LAYERS(NEUTRA_ADDRESS)};
  return all;
}

const Layer* find_layer(std::string_view class_name) {
  for (const Layer* layer : layers()) {
    if (layer->class_name == class_name || std::find(layer->aliases.begin(), layer->aliases.end(),
                                                     class_name) != layer->aliases.end()) {
      return layer;
    }
  }
  return nullptr;
}

bool is_dropout(std::string_view class_name) {
  return class_name.ends_with("Dropout") || class_name.starts_with("SpatialDropout");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (const std::int64_t extent : shape) {
    if (extent > kMaxElements / count) return kMaxElements + 1;
    count *= extent;
  }
  return count;
}

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

std::string constraint_name(const Weight& weight) {
  std::string field = weight.initializer;
  return field.replace(field.rfind("initializer"), std::string::npos, "constraint");
}

Json constraint_of(const Json& config, const Weight& weight) {
  return variable_settings(config, weight).value(constraint_name(weight), Json());
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

bool keep_mask(const Json&, bool masked) { return masked; }

std::vector<bool> masked_inputs(const std::vector<ResolvedLayer>& layers) {
  std::vector<bool> masked{false};
  for (const ResolvedLayer& layer : layers) {
    const Layer& type = *find_layer(layer.class_name);
    masked.push_back(type.masks_output != nullptr &&
                     type.masks_output(layer.config, masked.back()));
  }
  return masked;
}

}  // namespace neutra::program
