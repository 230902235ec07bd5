#pragma once

#include <string>

#include "program/formats/torch_script_options.h"
#include "program/program.h"

namespace neutra::program {

/// A Python script that trains the program with PyTorch (1.13 and later) on the rows of x_train.npy
/// and y_train.npy, with Keras's semantics: initialisers, losses, optimisers, metrics, layouts of
/// images and weights. Its last line is the program's metric on the rows of x_test.npy and
/// y_test.npy, "accuracy: 0.95". It uses nothing of neutra.
/// Precondition: `program` has all shapes. Throws input_error for what the script can't do.
std::string pytorch_script(const ResolvedProgram& program, const TorchScriptOptions& options);

}  // namespace neutra::program
