#pragma once

/// Every layer class, sorted by class name: the one list that all registries are made of. For each
/// LAYER(name), program/layers/ defines the declaration `program::layer::name()` and
/// training/layers/ the maker `training::module::name()` of what the eager back end computes.
#define NEUTRA_LAYERS(LAYER)       \
  LAYER(activation)                \
  LAYER(add)                       \
  LAYER(average)                   \
  LAYER(average_pooling_1d)        \
  LAYER(average_pooling_2d)        \
  LAYER(batch_normalization)       \
  LAYER(bidirectional)             \
  LAYER(concatenate)               \
  LAYER(conv_1d)                   \
  LAYER(conv_2d)                   \
  LAYER(conv_2d_transpose)         \
  LAYER(dense)                     \
  LAYER(depthwise_conv_2d)         \
  LAYER(dropout)                   \
  LAYER(elu)                       \
  LAYER(embedding)                 \
  LAYER(flatten)                   \
  LAYER(gaussian_dropout)          \
  LAYER(gaussian_noise)            \
  LAYER(global_average_pooling_1d) \
  LAYER(global_average_pooling_2d) \
  LAYER(global_max_pooling_1d)     \
  LAYER(global_max_pooling_2d)     \
  LAYER(gru)                       \
  LAYER(input_layer)               \
  LAYER(layer_normalization)       \
  LAYER(leaky_relu)                \
  LAYER(lstm)                      \
  LAYER(masking)                   \
  LAYER(maximum)                   \
  LAYER(max_pooling_1d)            \
  LAYER(max_pooling_2d)            \
  LAYER(minimum)                   \
  LAYER(multiply)                  \
  LAYER(normalization)             \
  LAYER(permute)                   \
  LAYER(prelu)                     \
  LAYER(relu)                      \
  LAYER(repeat_vector)             \
  LAYER(rescaling)                 \
  LAYER(reshape)                   \
  LAYER(separable_conv_2d)         \
  LAYER(simple_rnn)                \
  LAYER(softmax)                   \
  LAYER(spatial_dropout_1d)        \
  LAYER(spatial_dropout_2d)        \
  LAYER(subtract)                  \
  LAYER(time_distributed)          \
  LAYER(up_sampling_2d)            \
  LAYER(zero_padding_2d)
