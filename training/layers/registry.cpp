#include <map>

#include "program/error.h"
#include "training/layers/module.h"

namespace neutra {
namespace {

using Maker = std::unique_ptr<Module> (*)(const ResolvedLayer&);

const std::map<std::string, Maker>& registry() {
  static const std::map<std::string, Maker> kRegistry{
      {"Activation", module::activation},
      {"BatchNormalization", module::batch_normalization},
      {"Dense", module::dense},
      {"Dropout", module::dropout},
      {"ELU", module::elu},
      {"Flatten", module::flatten},
      {"InputLayer", module::input_layer},
      {"LeakyReLU", module::leaky_relu},
      {"ReLU", module::relu},
      {"Reshape", module::reshape},
      {"Softmax", module::softmax},
  };
  return kRegistry;
}

}  // namespace

bool has_module(const std::string& class_name) { return registry().contains(class_name); }

std::unique_ptr<Module> make_module(const ResolvedLayer& layer) {
  const auto it = registry().find(layer.class_name);
  if (it == registry().end()) {
    throw input_error("layer " + layer.class_name + " is not available yet");
  }
  return it->second(layer);
}

}  // namespace neutra
