#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/program.h"

namespace neutra {

/// What a script needs to know besides the program.
struct KerasScriptOptions {
  std::optional<Shape> input;  ///< extents of one row; else as the program declares them, or none
  bool validation = false;     ///< rows to watch are in x_validation.npy and y_validation.npy
  std::uint32_t seed = 0;      ///< of NumPy and TensorFlow
};

/// A Python script that builds, compiles and fits the program with tf.keras 2.4 on the rows of
/// x_train.npy and y_train.npy, the way people write such scripts: one model.add a layer, required
/// arguments by position, settings that are Keras's defaults left out. It uses nothing of neutra.
/// Throws input_error, naming the field of fit.loop, for a loop that Keras's fit can't be.
/// Precondition: the program is valid.
std::string keras_script(const Program& program, const KerasScriptOptions& options);

}  // namespace neutra
