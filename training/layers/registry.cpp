#include <algorithm>
#include <array>

#include "program/layer.h"
#include "training/layers/module.h"

namespace neutra::training {

std::unique_ptr<Module> make_module(const program::ResolvedLayer& layer) {
#define NEUTRA_ADDRESS(name) module::name,
  static const std::array kMakers{NEUTRA_LAYERS(NEUTRA_ADDRESS)};  // in the order of layers()
#undef NEUTRA_ADDRESS
  const std::vector<const program::Layer*>& types = program::layers();
  const auto type = std::find(types.begin(), types.end(), program::find_layer(layer.class_name));
  return kMakers.at(static_cast<std::size_t>(type - types.begin()))(layer);
}

}  // namespace neutra::training
