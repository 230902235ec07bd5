#include <algorithm>

#include "program/layer.h"
#include "program/layer_list.h"

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

const Layer* layer_of(const Json& layer) {
  const Json* name = member(layer, "class_name");
  return name != nullptr && name->is_string() ? find_layer(name->get<std::string>()) : nullptr;
}

LayerKind kind_of(const ResolvedLayer& layer) { return find_layer(layer.class_name)->kind; }

bool is_identity(const ResolvedLayer& layer) {
  const LayerKind kind = kind_of(layer);
  return kind == LayerKind::kInput ||
         (kind == LayerKind::kActivation && layer.config.value("activation", "") == "linear");
}

std::string last_activation(const ResolvedLayer& layer) {
  const Json* activation = member(layer.config, "activation");
  return activation != nullptr ? activation->get<std::string>()
                               : std::string(find_layer(layer.class_name)->activation);
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

std::string constraint_name(const Weight& weight) {
  std::string field = weight.initializer;
  return field.replace(field.rfind("initializer"), std::string::npos, "constraint");
}

Json constraint_of(const Json& config, const Weight& weight) {
  return variable_settings(config, weight).value(constraint_name(weight), Json());
}

bool takes_mask(const ResolvedLayer& layer, const std::vector<bool>& masked) {
  return std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](std::size_t input) { return masked[input]; });
}

std::vector<bool> masked_outputs(const std::vector<ResolvedLayer>& layers) {
  std::vector<bool> masked;
  for (const ResolvedLayer& layer : layers) {
    const Layer& type = *find_layer(layer.class_name);
    masked.push_back(type.masks_output != nullptr &&
                     type.masks_output(layer.config, takes_mask(layer, masked)));
  }
  return masked;
}

}  // namespace neutra::program
