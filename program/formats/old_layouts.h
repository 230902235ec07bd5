#pragma once

#include <string>
#include <vector>

#include "program/program.h"

/// Kernels and gates as older versions of Keras, and Theano, store them.
namespace neutra::program {

/// One array with its extents.
struct StoredArray {
  std::string path;           ///< in the file, for messages
  Shape shape;                ///< its extents
  std::vector<float> values;  ///< in row-major order
};

/// `array` with its axes in another order: axis i of the result is axis order[i].
void transpose(StoredArray& array, const std::vector<std::size_t>& order);
/// Turns a kernel round on all axes but the last two: Theano convolves, others correlate
/// (keras/utils/conv_utils.py: convert_kernel).
void flip_kernel(StoredArray& kernel);
/// Arrays next to each other along the last axis. Precondition: there are some, of one shape.
StoredArray concatenated(const std::vector<StoredArray>& parts);
/// Gates of Keras 1 for each of today's, in today's order (keras/engine/topology.py of Keras 2.0:
/// preprocess_weights_for_loading); empty for other layers than LSTM and GRU.
std::vector<std::size_t> old_gates(const std::string& class_name);

}  // namespace neutra::program
