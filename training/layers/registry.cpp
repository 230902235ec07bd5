#include <map>

#include "base/error.h"
#include "training/layers/module.h"

namespace neutra::training {
namespace {

using Maker = std::unique_ptr<Module> (*)(const program::ResolvedLayer&);

const std::map<std::string, Maker>& registry() {
  static const std::map<std::string, Maker> kRegistry{
      {"Activation", module::activation},
      {"AveragePooling1D", module::average_pooling_1d},
      {"AveragePooling2D", module::average_pooling_2d},
      {"BatchNormalization", module::batch_normalization},
      {"Bidirectional", module::bidirectional},
      {"Conv1D", module::conv_1d},
      {"Conv2D", module::conv_2d},
      {"Conv2DTranspose", module::conv_2d_transpose},
      {"Dense", module::dense},
      {"DepthwiseConv2D", module::depthwise_conv_2d},
      {"Dropout", module::dropout},
      {"ELU", module::elu},
      {"Embedding", module::embedding},
      {"Flatten", module::flatten},
      {"GRU", module::gru},
      {"GaussianDropout", module::gaussian_dropout},
      {"GaussianNoise", module::gaussian_noise},
      {"GlobalAveragePooling1D", module::global_average_pooling_1d},
      {"GlobalAveragePooling2D", module::global_average_pooling_2d},
      {"GlobalMaxPooling1D", module::global_max_pooling_1d},
      {"GlobalMaxPooling2D", module::global_max_pooling_2d},
      {"InputLayer", module::input_layer},
      {"LSTM", module::lstm},
      {"LayerNormalization", module::layer_normalization},
      {"LeakyReLU", module::leaky_relu},
      {"Masking", module::masking},
      {"MaxPooling1D", module::max_pooling_1d},
      {"MaxPooling2D", module::max_pooling_2d},
      {"Normalization", module::normalization},
      {"PReLU", module::prelu},
      {"Permute", module::permute},
      {"ReLU", module::relu},
      {"RepeatVector", module::repeat_vector},
      {"Rescaling", module::rescaling},
      {"Reshape", module::reshape},
      {"SeparableConv2D", module::separable_conv_2d},
      {"SimpleRNN", module::simple_rnn},
      {"Softmax", module::softmax},
      {"SpatialDropout1D", module::spatial_dropout_1d},
      {"SpatialDropout2D", module::spatial_dropout_2d},
      {"TimeDistributed", module::time_distributed},
      {"UpSampling2D", module::up_sampling_2d},
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

std::unique_ptr<Module> make_module(const program::ResolvedLayer& layer) {
  const auto it = registry().find(layer.class_name);
  if (it == registry().end()) {
    throw input_error("layer " + layer.class_name + " is not available yet");
  }
  return it->second(layer);
}

}  // namespace neutra::training
