#pragma once

#include <cstdint>

namespace neutra::program {

/// What a script for PyTorch or a program for LibTorch needs to know besides the program.
struct TorchScriptOptions {
  bool validation = false;  ///< rows to watch are in x_validation.npy and y_validation.npy
  std::uint32_t seed = 0;   ///< unless another one is given on the command line
  /// Weights of the rows to watch are in sample_weight_validation.npy. (Those of the training rows,
  /// where the program's data have some, are in sample_weight_train.npy.)
  bool validation_weights = false;
};

}  // namespace neutra::program
