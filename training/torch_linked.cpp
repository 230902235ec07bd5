// For programs that are linked with LibTorch.

#include "training/on_torch.h"

namespace neutra::training {

const std::optional<TorchProblem>& torch_problem() {
  static const std::optional<TorchProblem> kNone;
  return kNone;
}

const TorchFunctions& torch_functions() { return neutra_torch_functions; }

}  // namespace neutra::training
