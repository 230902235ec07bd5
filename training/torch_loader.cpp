// For the command: LibTorch comes with neutra_torch.so, when it is needed.

#include <dlfcn.h>

#include <cfenv>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "training/libraries.h"
#include "training/on_torch.h"
#include "training/torch_build.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "neutra_torch.so";

fs::path module_file() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path beside = folder / kModule;
  return fs::exists(beside, error) ? beside : folder.parent_path() / NEUTRA_MODULE_FOLDER / kModule;
}

void* open_module(const fs::path& file) {
  // LibTorch makes tables when it is loaded, perhaps by a thread that flushes denormals.
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  void* module = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  std::fesetenv(&environment);
  if (module == nullptr) throw failure(std::string("LibTorch can't be loaded: ") + dlerror());
  return module;
}

const TorchFunctions& load() {
  prepare_libraries();
  const fs::path file = module_file();
  void* module = open_module(file);
  const auto build = reinterpret_cast<const char* (*)()>(dlsym(module, "neutra_torch_build"));
  if (build == nullptr || std::strcmp(build(), kTorchBuild) != 0) {
    throw failure(file.string() + " is of another build (" +
                  (build == nullptr ? "unknown" : build()) + ") than this neutra (" + kTorchBuild +
                  "); was it replaced meanwhile?");
  }
  const auto* functions =
      static_cast<const TorchFunctions*>(dlsym(module, "neutra_torch_functions"));
  if (functions == nullptr) throw failure(file.string() + " is no module of neutra");
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
