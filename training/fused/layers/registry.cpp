#include "training/fused/layers/registry.h"

#include <map>

namespace neutra::training::fused {
namespace {

const std::map<std::string, AddLayer>& registry() {
  static const std::map<std::string, AddLayer> kRegistry{
      {"Activation", layers::activation},
      {"AveragePooling1D", layers::average_pooling_1d},
      {"AveragePooling2D", layers::average_pooling_2d},
      {"BatchNormalization", layers::batch_normalization},
      {"Conv1D", layers::conv_1d},
      {"Conv2D", layers::conv_2d},
      {"Conv2DTranspose", layers::conv_2d_transpose},
      {"Dense", layers::dense},
      {"DepthwiseConv2D", layers::depthwise_conv_2d},
      {"Dropout", layers::dropout},
      {"ELU", layers::elu},
      {"Flatten", layers::flatten},
      {"GaussianDropout", layers::gaussian_dropout},
      {"GaussianNoise", layers::gaussian_noise},
      {"GlobalAveragePooling1D", layers::global_average_pooling_1d},
      {"GlobalAveragePooling2D", layers::global_average_pooling_2d},
      {"GlobalMaxPooling1D", layers::global_max_pooling_1d},
      {"GlobalMaxPooling2D", layers::global_max_pooling_2d},
      {"InputLayer", layers::input_layer},
      {"LayerNormalization", layers::layer_normalization},
      {"LeakyReLU", layers::leaky_relu},
      {"MaxPooling1D", layers::max_pooling_1d},
      {"MaxPooling2D", layers::max_pooling_2d},
      {"Normalization", layers::normalization},
      {"PReLU", layers::prelu},
      {"ReLU", layers::relu},
      {"Rescaling", layers::rescaling},
      {"Reshape", layers::flatten},
      {"SeparableConv2D", layers::separable_conv_2d},
      {"Softmax", layers::softmax},
      {"SpatialDropout1D", layers::spatial_dropout},
      {"SpatialDropout2D", layers::spatial_dropout},
      {"UpSampling2D", layers::up_sampling_2d},
      {"ZeroPadding2D", layers::zero_padding_2d},
  };
  return kRegistry;
}

}  // namespace

AddLayer find_layer_steps(const std::string& class_name) {
  const auto it = registry().find(class_name);
  return it == registry().end() ? nullptr : it->second;
}

std::vector<std::string> fused_layer_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : registry()) names.push_back(name);
  return names;
}

}  // namespace neutra::training::fused
