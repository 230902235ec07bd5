#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
  std::string (*config)();
  bool (*routed)();
  double (*gflops)();
};

/// Why LibTorch can't be used.
struct TorchProblem {
  enum class Kind {
    kLeftOut,  ///< not installed or not wanted, which only matters to a program that needs it
    kUnfit,    ///< a LibTorch that does not work or is of another version, or a wrong setting
    kBroken    ///< the module that belongs to neutra is damaged
  };
  Kind kind;
  std::string what;    ///< what was found
  std::string advice;  ///< how to mend it; may be empty
  bool left_out() const { return kind == Kind::kLeftOut; }
  /// Both, as a line.
  std::string text() const { return advice.empty() ? what : what + "; " + advice; }
};
/// Nothing where LibTorch can be used. Loads it; that warns on stderr where its products go to a
/// slow BLAS.
const std::optional<TorchProblem>& torch_problem();
/// Throws failure() where there is a torch_problem().
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

/// What LibTorch tells about itself, for torch_facts().
std::string config();
/// Did a product in LibTorch go through our sgemm_?
bool routed();
/// Speed of a small single-core product, in GFLOP/s.
double gflops();

}  // namespace on_torch

/// All of them, by a name for dlsym.
extern "C" const TorchFunctions neutra_torch_functions;

}  // namespace neutra::training
