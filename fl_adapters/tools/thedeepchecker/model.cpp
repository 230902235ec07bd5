#include "fl_adapters/tools/thedeepchecker/model.h"

#include <utility>

#include "base/json.h"
#include "program/edit.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

/// The name of an activation function that the tool knows, else "".
std::string known_activation(const program::ResolvedLayer& layer) {
  if (layer.class_name == "ReLU") {
    const Json* max_value = member(layer.config, "max_value");
    return max_value != nullptr && *max_value == 6 ? "relu6" : "relu";
  }
  if (layer.class_name == "ELU") return "elu";
  if (layer.class_name == "LeakyReLU") return "leaky_relu";
  const Json* activation = member(layer.config, "activation");
  if (activation == nullptr) return "";
  for (const char* known : {"relu", "elu", "sigmoid", "tanh", "selu"}) {
    if (*activation == known) return known;
  }
  return "";
}

Part part_of(const program::ResolvedLayer& layer, const Json& written) {
  Part part;
  part.index = layer.index;
  const Json* settings = member(written, "config");
  const Json* name = settings != nullptr ? member(*settings, "name") : nullptr;
  part.name = name != nullptr && name->is_string()
                  ? name->get<std::string>()
                  : layer.class_name + "_" + std::to_string(layer.index);
  part.activation = known_activation(layer);
  part.neurons =
      layer.output_shape.empty() ? 1 : static_cast<std::size_t>(layer.output_shape.back());
  part.image = layer.output_shape.size() > 1;
  for (std::size_t k = 0; k < layer.weights.size(); ++k) {
    const program::Weight& weight = layer.weights[k];
    if (weight.name == "bias") {
      part.has_bias = true;
      part.bias_variable = k;
    }
    if (weight.name != "kernel") continue;
    part.has_kernel = true;
    const program::Shape& shape = weight.shape;
    part.image_kernel = shape.size() > 2;
    std::int64_t field = 1;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) field *= shape[i];
    part.fan_in = shape[shape.size() - 2] * field;
    part.fan_out = shape.back() * field;
  }
  const Json* regularizer = member(layer.config, "kernel_regularizer");
  if (regularizer != nullptr && regularizer->is_object()) {
    const Json& config = regularizer->at("config");
    for (auto [field, value] : {std::pair{"l1", &part.l1}, std::pair{"l2", &part.l2}}) {
      const Json* found = member(config, field);
      if (found != nullptr && found->is_number()) *value = *found;
    }
  }
  return part;
}

}  // namespace

Model::Model(program::Program program, const program::Shape& row) {
  Json& first = program::layers_of(program.document)[0]["config"];
  if (!first.contains("batch_input_shape") && !first.contains("input_shape")) {
    first["batch_input_shape"] = Json::array({nullptr});
    for (const std::int64_t extent : row) first["batch_input_shape"].push_back(extent);
  }
  const program::ResolvedProgram resolved = program::resolve(program);
  const Json& written = program::layers_of(program.document);
  classification = resolved.task == "classification";
  sparse = resolved.loss == "sparse_categorical_crossentropy";
  metric = resolved.metric;
  for (std::size_t i = 0; i < resolved.layers.size(); ++i) {
    parts.push_back(part_of(resolved.layers[i], written[i]));
    const Part& part = parts.back();
    if (first_activation.empty()) first_activation = part.activation;
    const std::string& name = resolved.layers[i].class_name;
    if (name == "Dropout") dropouts.insert(part.index);
    has_modes = has_modes || name == "Dropout" || name == "BatchNormalization";
  }
  if (first_activation.empty()) first_activation = "leaky_relu";
  connect(resolved);
}

void Model::connect(const program::ResolvedProgram& resolved) {
  static const std::set<std::string> kActivations{"Activation", "ELU", "LeakyReLU", "ReLU",
                                                  "Softmax"};
  static const std::set<std::string> kBetween{"BatchNormalization", "Dropout"};
  // Of each layer, the weights that an activation may follow.
  std::vector<Part*> open(parts.size(), nullptr);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const program::ResolvedLayer& layer = resolved.layers[i];
    Part* before = layer.inputs.size() == 1 ? open[layer.inputs.front()] : nullptr;
    if (before != nullptr && before->activation_layer >= 0) before = nullptr;  // another has it
    if (kActivations.contains(layer.class_name)) {
      if (before == nullptr) continue;
      before->activation_layer = layer.index;
      parts[i].weight_layer = before->index;
    } else if (kBetween.contains(layer.class_name)) {
      open[i] = before;
    } else {
      const Json* activation = member(layer.config, "activation");
      const bool linear = activation != nullptr && *activation == "linear";
      open[i] = parts[i].has_kernel && linear ? &parts[i] : nullptr;
    }
  }
}

}  // namespace neutra::fl_adapters::thedeepchecker
