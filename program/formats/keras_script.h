#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/formats/keras_dialect.h"
#include "program/program.h"

namespace neutra::program {

/// What a tool puts into a script.
struct KerasScriptHook {
  std::string imports;            ///< lines behind the script's own
  std::string before_compile;     ///< lines
  std::string callback;           ///< an expression for fit's callbacks
  bool needs_validation = false;  ///< on the test rows where the program has none of its own
  bool names_optimizer = false;   ///< by a variable, in a line of its own
};

/// What a script needs to know besides the program.
struct KerasScriptOptions {
  std::optional<Shape> input;  ///< extents of one row; else as the program declares them, or none
  bool validation = false;     ///< rows to watch are in x_validation.npy and y_validation.npy
  std::uint32_t seed = 0;      ///< of Python, NumPy and TensorFlow
  /// For people to run: another seed may be given on the command line, and the last line that it
  /// prints is the program's metric on the rows of x_test.npy and y_test.npy, "accuracy: 0.95".
  bool standalone = false;
  KerasDialect dialect = KerasDialect::kTfKeras;  ///< which Keras runs it
  KerasScriptHook hook = {};                      ///< what a tool puts into it
  /// With it a standalone script takes --save OUT.keras, which writes the trained model and beside
  /// it this text as OUT.neutra.json.
  std::string sidecar = {};
  /// Weights of the rows to watch are in sample_weight_validation.npy. (Those of the training rows,
  /// where the program's data have some, are in sample_weight_train.npy.)
  bool validation_weights = false;
};

/// Why no script does what the program does; nullopt: one does.
std::optional<std::string> keras_script_refusal(const Program& program);

/// A Python script that builds, compiles and fits the program with Keras on the rows of x_train.npy
/// and y_train.npy, the way people write such scripts: one model.add a layer, required arguments by
/// position, settings that are Keras's defaults left out. It uses nothing of neutra. Precondition:
/// the program is valid. Throws input_error where there is a refusal.
std::string keras_script(const Program& program, const KerasScriptOptions& options);

}  // namespace neutra::program
