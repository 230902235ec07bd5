#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "program/model_weights.h"
#include "training/engine.h"
#include "training/evaluation.h"
#include "training/predictor.h"

namespace neutra::training {

/// What needs LibTorch, which takes half a second to start. The command is not linked with it but
/// loads neutra_torch.so with the first call (torch_loader.cpp); programs that test or measure
/// trainings have it linked (torch_linked.cpp).
struct TorchFunctions {
  std::unique_ptr<Engine> (*make_eager_engine)(const program::ResolvedProgram&, const Rows&,
                                               RandomKey);
  Array (*run_torch_script)(const std::filesystem::path&, const Array&);
  Evaluation (*evaluate_outputs)(Array, const DataRows&, const std::string&,
                                 const program::LossOptions&, const std::string&);
  std::string (*torchscript)(const program::ResolvedProgram&, const program::ModelWeights&);
  std::string (*capability)();
  bool (*routed)();
  double (*gflops)();
};

/// Throws failure() where neutra_torch.so can't be loaded. Loading it warns on stderr where
/// LibTorch's products go to a slow BLAS.
const TorchFunctions& torch_functions();

/// The functions themselves; their public names are in eager.h, torch_script.h and libraries.h.
namespace on_torch {

std::unique_ptr<Engine> make_eager_engine(const program::ResolvedProgram& program,
                                          const Rows& training, RandomKey key);
Array run_torch_script(const std::filesystem::path& file, const Array& inputs);
Evaluation evaluate_outputs(Array outputs, const DataRows& rows, const std::string& loss,
                            const program::LossOptions& options, const std::string& metric);
std::string torchscript(const program::ResolvedProgram& program,
                        const program::ModelWeights& weights);

/// The kernels that LibTorch chose: "AVX2", ...
std::string capability();
/// Did a product in LibTorch go through our sgemm_?
bool routed();
/// Speed of a small single-core product, in GFLOP/s.
double gflops();

}  // namespace on_torch

/// All of them, by a name for dlsym.
extern "C" const TorchFunctions neutra_torch_functions;

}  // namespace neutra::training
