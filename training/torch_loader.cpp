// For the command: LibTorch comes with neutra_torch.so, when it is needed.

#include <dlfcn.h>

#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/error.h"
#include "base/module.h"
#include "base/module_build.h"
#include "training/libraries.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

TorchProblem absent() { return {"LibTorch is not installed; " NEUTRA_TORCH_HINT, true}; }

/// LibTorch's library: in the folder $NEUTRA_TORCH, else in the folder of the build, else by its
/// name for the system. Throws TorchProblem where it is not to be.
fs::path torch_file() {
  const std::string folder = environment("NEUTRA_TORCH");
  if (folder.empty()) {
    const fs::path file = fs::path(NEUTRA_TORCH_FOLDER) / NEUTRA_TORCH_LIBRARY;
    if (file.has_parent_path() && !fs::exists(file)) throw absent();
    return file;
  }
  if (folder == "none") {
    throw TorchProblem{"NEUTRA_TORCH=none leaves LibTorch out", true};
  }
  const fs::path file = fs::path(folder) / "libtorch_cpu.so";
  if (!fs::exists(file)) {
    throw failure("NEUTRA_TORCH: found " + folder +
                  ", without libtorch_cpu.so; allowed: the folder torch/lib of an installed torch, "
                  "or none");
  }
  return file;
}

void* open_torch() {
  const fs::path file = torch_file();
  void* const torch = open_library(file);
  if (torch != nullptr) return torch;
  const std::string reason = dlerror();  // names what isn't found: LibTorch, or what it needs
  if (!file.has_parent_path() && reason.starts_with(file.string() + ": cannot open")) {
    throw absent();
  }
  throw failure("LibTorch can't be loaded: " + reason);
}

/// Releases with the same two numbers have the same classes.
std::string minor_version(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

void require_fitting(void* torch) {
  void* const show = dlsym(torch, "_ZN2at11show_configB5cxx11Ev");
  std::string version = "of before 2.7 (with C++ classes of before GCC 5)", file;
  if (show != nullptr) {
    version = torch_facts(reinterpret_cast<std::string (*)()>(show)()).version;
    Dl_info info{};
    if (dladdr(show, &info) != 0) file = std::string(" in ") + info.dli_fname;
  }
  const std::string wanted = minor_version(NEUTRA_TORCH_VERSION);
  if (minor_version(version) == wanted) return;
  throw failure("LibTorch " + version + file + " doesn't fit, the eager back end is built for " +
                wanted + "; " NEUTRA_TORCH_HINT);
}

const TorchFunctions* open_functions() {
  const fs::path module = module_file("neutra_torch.so");
  if (!fs::exists(module)) {
    throw TorchProblem{"this installation has no eager back end: found no " + module.string(),
                       true};
  }
  require_fitting(open_torch());
  const auto* functions = static_cast<const TorchFunctions*>(
      open_module(module, "LibTorch", "neutra_torch_functions", kModuleBuild));
  try {
    warn_of_slow_products(*functions);
  } catch (const std::exception& error) {
    throw failure(std::string("LibTorch doesn't work: ") + error.what());
  }
  return functions;
}

struct Loaded {
  const TorchFunctions* functions = nullptr;
  std::optional<TorchProblem> problem;
};

const Loaded& loaded() {
  static const Loaded kLoaded = [] {
    prepare_libraries();
    Loaded result;
    try {
      result.functions = open_functions();
    } catch (const TorchProblem& problem) {
      result.problem = problem;
    } catch (const std::exception& error) {
      result.problem = {error.what(), false};
    }
    return result;
  }();
  return kLoaded;
}

}  // namespace

const std::optional<TorchProblem>& torch_problem() { return loaded().problem; }

const TorchFunctions& torch_functions() {
  if (torch_problem()) throw failure(torch_problem()->text);
  return *loaded().functions;
}

}  // namespace neutra::training
