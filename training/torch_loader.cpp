// For the command: LibTorch comes with neutra_torch.so, when it is needed.

#include <exception>
#include <string>

#include "base/error.h"
#include "base/module.h"
#include "base/module_build.h"
#include "training/libraries.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

const TorchFunctions& load() {
  prepare_libraries();
  const auto* functions = static_cast<const TorchFunctions*>(open_module(
      module_file("neutra_torch.so"), "LibTorch", "neutra_torch_functions", kModuleBuild));
  try {
    warn_of_slow_products(*functions);
  } catch (const std::exception& error) {
    throw failure(std::string("LibTorch doesn't work: ") + error.what());
  }
  return *functions;
}

}  // namespace

const TorchFunctions& torch_functions() {
  static const TorchFunctions& functions = load();
  return functions;
}

}  // namespace neutra::training
