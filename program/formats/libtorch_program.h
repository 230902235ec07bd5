#pragma once

#include <string>

#include "program/formats/torch_script_options.h"
#include "program/program.h"

namespace neutra::program {

/// A C++17 program that does the same with LibTorch (1.13 and later) as pytorch_script()'s script,
/// in one file.
/// Precondition: `program` has all shapes. Throws input_error for what the program can't do.
std::string libtorch_program(const ResolvedProgram& program, const TorchScriptOptions& options);

}  // namespace neutra::program
