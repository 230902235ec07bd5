#include <sstream>

#include <torch/csrc/jit/api/module.h>

#include "program/embedded.h"
#include "program/formats/torch_program.h"
#include "training/on_torch.h"
#include "training/torch.h"

namespace neutra::training {
namespace {

/// The parts as methods: a module has no functions beside it. Without their docstrings.
std::string as_methods(std::string parts) {
  const std::string define = "def ";
  for (std::size_t at = 0; (at = parts.find(define, at)) != std::string::npos;) {
    at = parts.find('(', at) + 1;
    parts.insert(at, "self, ");
  }
  for (std::size_t begin; (begin = parts.find("\"\"\"")) != std::string::npos;) {
    const std::size_t end = parts.find("\"\"\"", begin + 3) + 3;
    parts.erase(begin, end - begin);
  }
  return parts;
}

}  // namespace

std::string on_torch::torchscript(const program::ResolvedProgram& program,
                                  const program::ModelWeights& weights) {
  const program::TorchProgram calls = program::torch_program(program);
  torch::jit::Module module("Model");
  auto variable = calls.variables.begin();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (program.layers[i].weights_of) continue;  // those of an earlier layer
    for (const std::vector<float>& values : weights[i]) {
      at::Tensor tensor = at::empty(variable->shape);
      std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
      // Statistics stay as they are where somebody trains on.
      if (variable->trainable) tensor.set_requires_grad(true);
      module.register_parameter(variable->name, tensor, !variable->trainable);
      ++variable;
    }
  }
  const program::TorchSyntax syntax{false, "self.", "self.", "False"};
  std::string needs, forward = "def forward(self, x):\n";
  const auto add = [&](const program::TorchStep& step) {
    const std::string& function = step.call.function;
    if (function == "activity" || function == "detach") return;  // about gradients only
    needs += function + " ";
    forward += "    " + syntax.text(step, calls) + "\n";
  };
  for (const program::TorchStep& step : calls.forward) add(step);
  if (calls.output) add({*calls.output});
  module.define(as_methods(program::parts_for(program::embedded::pytorch_parts, needs)) + "\n" +
                forward + "    return x\n");
  std::ostringstream file;
  module.save(file);
  return file.str();
}

}  // namespace neutra::training
