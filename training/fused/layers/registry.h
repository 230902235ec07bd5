#pragma once

#include <string>
#include <vector>

#include "training/fused/builder.h"

namespace neutra::training::fused {

/// How a layer's steps are added, by its Keras class; null for a class that the fused back end
/// doesn't know.
AddLayer find_layer_steps(const std::string& class_name);
/// The classes that it knows, sorted.
std::vector<std::string> fused_layer_names();

/// The classes that the fused back end covers, sorted, each with the function in a file of
/// fused/layers/ that adds its steps: the one list that the registry is made of.
#define NEUTRA_FUSED_LAYERS(LAYER)                           \
  LAYER("Activation", activation)                            \
  LAYER("Add", add)                                          \
  LAYER("Average", average)                                  \
  LAYER("AveragePooling1D", average_pooling_1d)              \
  LAYER("AveragePooling2D", average_pooling_2d)              \
  LAYER("BatchNormalization", batch_normalization)           \
  LAYER("Concatenate", concatenate)                          \
  LAYER("Conv1D", conv_1d)                                   \
  LAYER("Conv2D", conv_2d)                                   \
  LAYER("Conv2DTranspose", conv_2d_transpose)                \
  LAYER("Dense", dense)                                      \
  LAYER("DepthwiseConv2D", depthwise_conv_2d)                \
  LAYER("Dropout", dropout)                                  \
  LAYER("ELU", elu)                                          \
  LAYER("Flatten", flatten)                                  \
  LAYER("GaussianDropout", gaussian_dropout)                 \
  LAYER("GaussianNoise", gaussian_noise)                     \
  LAYER("GlobalAveragePooling1D", global_average_pooling_1d) \
  LAYER("GlobalAveragePooling2D", global_average_pooling_2d) \
  LAYER("GlobalMaxPooling1D", global_max_pooling_1d)         \
  LAYER("GlobalMaxPooling2D", global_max_pooling_2d)         \
  LAYER("InputLayer", input_layer)                           \
  LAYER("LayerNormalization", layer_normalization)           \
  LAYER("LeakyReLU", leaky_relu)                             \
  LAYER("Maximum", maximum)                                  \
  LAYER("MaxPooling1D", max_pooling_1d)                      \
  LAYER("MaxPooling2D", max_pooling_2d)                      \
  LAYER("Minimum", minimum)                                  \
  LAYER("Multiply", multiply)                                \
  LAYER("Normalization", normalization)                      \
  LAYER("PReLU", prelu)                                      \
  LAYER("ReLU", relu)                                        \
  LAYER("Rescaling", rescaling)                              \
  LAYER("Reshape", flatten)                                  \
  LAYER("SeparableConv2D", separable_conv_2d)                \
  LAYER("Softmax", softmax)                                  \
  LAYER("SpatialDropout1D", spatial_dropout)                 \
  LAYER("SpatialDropout2D", spatial_dropout)                 \
  LAYER("Subtract", subtract)                                \
  LAYER("UpSampling2D", up_sampling_2d)                      \
  LAYER("ZeroPadding2D", zero_padding_2d)

namespace layers {
#define NEUTRA_DECLARE(class_name, steps) void steps(Builder&, const program::ResolvedLayer&);
NEUTRA_FUSED_LAYERS(NEUTRA_DECLARE)
#undef NEUTRA_DECLARE
}  // namespace layers

}  // namespace neutra::training::fused
