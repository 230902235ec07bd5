#include <map>

#include "program/error.h"
#include "training/layers/module.h"

namespace neutra {
namespace {

using Maker = std::unique_ptr<Module> (*)(const ResolvedLayer&);

const std::map<std::string, Maker>& registry() {
  static const std::map<std::string, Maker> kRegistry{
      {"Activation", module::activation},
      {"AveragePooling2D", module::average_pooling_2d},
      {"BatchNormalization", module::batch_normalization},
      {"Conv2D", module::conv_2d},
      {"Dense", module::dense},
      {"Dropout", module::dropout},
      {"ELU", module::elu},
      {"Flatten", module::flatten},
      {"GlobalAveragePooling2D", module::global_average_pooling_2d},
      {"GlobalMaxPooling2D", module::global_max_pooling_2d},
      {"InputLayer", module::input_layer},
      {"LeakyReLU", module::leaky_relu},
      {"MaxPooling2D", module::max_pooling_2d},
      {"ReLU", module::relu},
      {"Reshape", module::reshape},
      {"Softmax", module::softmax},
      {"ZeroPadding2D", module::zero_padding_2d},
  };
  return kRegistry;
}

}  // namespace

std::vector<std::string> module_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : registry()) names.push_back(name);
  return names;
}

std::unique_ptr<Module> make_module(const ResolvedLayer& layer) {
  const auto it = registry().find(layer.class_name);
  if (it == registry().end()) {
    throw input_error("layer " + layer.class_name + " is not available yet");
  }
  return it->second(layer);
}

}  // namespace neutra
