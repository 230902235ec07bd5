#include "program/trained_mutations.h"

#include "program/layer.h"

namespace neutra::program {
namespace {

std::string refuse_activation(const std::vector<ResolvedLayer>& layers, std::size_t position) {
  const Json* activation = member(layers[position].config, "activation");
  if (activation == nullptr) return "has no activation";
  if (*activation == "linear") return "is linear";
  return position + 1 == layers.size() ? "is the output layer" : "";
}

/// A layer that can be left out, or stand twice, and the others still fit.
std::string refuse_shape(const std::vector<ResolvedLayer>& layers, std::size_t position) {
  const ResolvedLayer& layer = layers[position];
  if (position + 1 == layers.size()) return "is the output layer";
  if (layer.output_shape == layer.input_shape) return "";
  return "makes " + to_string(layer.output_shape) + " of " + to_string(layer.input_shape);
}

std::string refusal(std::string_view op, const std::vector<ResolvedLayer>& layers,
                    std::size_t position) {
  if (const auto& owner = layers[position].weights_of) {
    return "is layer " + std::to_string(*owner) + " once more";
  }
  if (op == "activation_removal") return refuse_activation(layers, position);
  if (!has_kernel(layers[position])) return "is neither Dense nor Conv2D";
  if (op == "layer_copy") return refuse_shape(layers, position);
  if (op == "layer_deactivation") {
    const std::size_t first = kind_of(layers.front()) == LayerKind::kInput ? 1 : 0;
    return position == first ? "is the first layer" : refuse_shape(layers, position);
  }
  return "";
}

}  // namespace

bool has_kernel(const ResolvedLayer& layer) {
  return !layer.weights_of && find_layer(layer.class_name)->kernel_mutates;
}

std::string trained_step_refusal(std::string_view op, const std::vector<ResolvedLayer>& layers,
                                 std::size_t position, const LayerTitles& titles) {
  const std::string reason = refusal(op, layers, position);
  if (reason.empty()) return "";
  return "layer " + titles(static_cast<int>(position)) + " (" + layers[position].class_name +
         "), which " + reason;
}

}  // namespace neutra::program
