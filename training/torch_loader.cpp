// For the command: LibTorch comes with neutra_torch.so, when it is needed.

#include <dlfcn.h>

#include <cfenv>
#include <filesystem>
#include <string>

#include "program/error.h"
#include "training/libraries.h"
#include "training/on_torch.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "neutra_torch.so";

const TorchFunctions& load() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path installed = folder.parent_path() / NEUTRA_MODULE_FOLDER / kModule;
  const fs::path file = fs::exists(folder / kModule) ? folder / kModule : installed;
  prepare_libraries();
  // LibTorch makes tables when it is loaded, perhaps by a thread that flushes denormals.
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  void* module = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  std::fesetenv(&environment);
  if (module == nullptr) throw failure(std::string("LibTorch can't be loaded: ") + dlerror());
  const auto* functions =
      static_cast<const TorchFunctions*>(dlsym(module, "neutra_torch_functions"));
  if (functions == nullptr) throw failure(file.string() + " is no module of neutra");
  warn_of_slow_products(*functions);
  return *functions;
}

}  // namespace

const TorchFunctions& torch_functions() {
  static const TorchFunctions& functions = load();
  return functions;
}

}  // namespace neutra
