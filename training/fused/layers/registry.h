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

/// One function for each class, in a file of fused/layers/; one row each in the registry.
namespace layers {
void activation(Builder&, const program::ResolvedLayer&);
void average_pooling_1d(Builder&, const program::ResolvedLayer&);
void average_pooling_2d(Builder&, const program::ResolvedLayer&);
void batch_normalization(Builder&, const program::ResolvedLayer&);
void conv_1d(Builder&, const program::ResolvedLayer&);
void conv_2d(Builder&, const program::ResolvedLayer&);
void conv_2d_transpose(Builder&, const program::ResolvedLayer&);
void dense(Builder&, const program::ResolvedLayer&);
void depthwise_conv_2d(Builder&, const program::ResolvedLayer&);
void dropout(Builder&, const program::ResolvedLayer&);
void elu(Builder&, const program::ResolvedLayer&);
void flatten(Builder&, const program::ResolvedLayer&);
void gaussian_dropout(Builder&, const program::ResolvedLayer&);
void gaussian_noise(Builder&, const program::ResolvedLayer&);
void global_average_pooling_1d(Builder&, const program::ResolvedLayer&);
void global_average_pooling_2d(Builder&, const program::ResolvedLayer&);
void global_max_pooling_1d(Builder&, const program::ResolvedLayer&);
void global_max_pooling_2d(Builder&, const program::ResolvedLayer&);
void input_layer(Builder&, const program::ResolvedLayer&);
void layer_normalization(Builder&, const program::ResolvedLayer&);
void leaky_relu(Builder&, const program::ResolvedLayer&);
void max_pooling_1d(Builder&, const program::ResolvedLayer&);
void max_pooling_2d(Builder&, const program::ResolvedLayer&);
void normalization(Builder&, const program::ResolvedLayer&);
void prelu(Builder&, const program::ResolvedLayer&);
void relu(Builder&, const program::ResolvedLayer&);
void rescaling(Builder&, const program::ResolvedLayer&);
void separable_conv_2d(Builder&, const program::ResolvedLayer&);
void softmax(Builder&, const program::ResolvedLayer&);
void spatial_dropout(Builder&, const program::ResolvedLayer&);
void up_sampling_2d(Builder&, const program::ResolvedLayer&);
void zero_padding_2d(Builder&, const program::ResolvedLayer&);
}  // namespace layers

}  // namespace neutra::training::fused
