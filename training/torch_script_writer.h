#pragma once

#include <string>

#include "program/model_weights.h"
#include "program/program.h"

namespace neutra {

/// The bytes of a TorchScript file of the trained model: rows as Keras has them in, outputs out, in
/// inference. torch.jit.load and torch::jit::load read it; the weights are its parameters, in
/// Keras's layout.
/// Precondition: `program` has all shapes, `weights` fit it. Throws input_error for layers that
/// have no function in program/formats/pytorch_parts.py.
std::string torchscript(const ResolvedProgram& program, const ModelWeights& weights);

}  // namespace neutra
