#include "training/fused/layers/registry.h"

#include <map>

#include "training/registry_names.h"

namespace neutra::training::fused {
namespace {

const std::map<std::string, AddLayer>& registry() {
#define NEUTRA_ENTRY(class_name, steps) {class_name, layers::steps},
  static const std::map<std::string, AddLayer> kRegistry{NEUTRA_FUSED_LAYERS(NEUTRA_ENTRY)};
#undef NEUTRA_ENTRY
  return kRegistry;
}

}  // namespace

AddLayer find_layer_steps(const std::string& class_name) {
  const auto it = registry().find(class_name);
  return it == registry().end() ? nullptr : it->second;
}

std::vector<std::string> fused_layer_names() { return registry_names(registry()); }

}  // namespace neutra::training::fused
