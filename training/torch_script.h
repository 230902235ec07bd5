#pragma once

#include <filesystem>
#include <string>

#include "program/model_weights.h"
#include "program/program.h"
#include "training/evaluation.h"
#include "training/predictor.h"

namespace neutra::training {

/// Is this a file of TorchScript: a zip file with the constants and the code of a module?
bool is_torch_script(const std::filesystem::path& file);

/// The outputs of a TorchScript module, in evaluation mode, for rows of inputs as they are.
/// **The code in the file is run**: TorchScript is no sandbox. Throws input_error: no TorchScript,
/// a module that fails or that gives anything but one tensor of a row for each row.
Array run_torch_script(const std::filesystem::path& file, const Array& inputs);

/// Loss and metric, by Keras's rules, of outputs for rows: the loss of a program behind
/// `output_activation`, of which outputs are the result; "" for no loss.
Evaluation evaluate_outputs(Array outputs, const DataRows& rows, const std::string& loss,
                            const program::LossOptions& options, const std::string& metric);

/// The bytes of a TorchScript file of the trained model: rows as Keras has them in, outputs out, in
/// inference. torch.jit.load and torch::jit::load read it; the weights are its parameters, in
/// Keras's layout.
/// Precondition: `program` has all shapes, `weights` fit it. Throws input_error for layers that
/// have no function in program/formats/pytorch_parts.py.
std::string torchscript(const program::ResolvedProgram& program,
                        const program::ModelWeights& weights);

}  // namespace neutra::training
