// For the command: LibTorch comes with neutra_torch.so, when it is needed.

#include <dlfcn.h>

#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "base/module.h"
#include "base/module_build.h"
#include "base/strings.h"
#include "training/libraries.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

using Kind = TorchProblem::Kind;

/// Releases with the same two numbers have the same classes.
std::string minor_version(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

/// Nothing where `torch` is of the version that the module was built for.
std::optional<TorchProblem> misfit(void* torch) {
  const auto show =
      reinterpret_cast<std::string (*)()>(dlsym(torch, "_ZN2at11show_configB5cxx11Ev"));
  const std::string version = show == nullptr ? "of before 2.7 (with C++ classes of before GCC 5)"
                                              : torch_facts(show()).version;
  const std::string wanted = minor_version(NEUTRA_TORCH_VERSION);
  if (minor_version(version) == wanted) return {};
  return TorchProblem{Kind::kUnfit,
                      "LibTorch " + version + " in " + library_file(torch).string() +
                          " doesn't fit, the eager back end is built for " + wanted,
                      NEUTRA_TORCH_HINT};
}

/// Opens LibTorch's library: in the folder $NEUTRA_TORCH, else in the folder of the build, else by
/// its name for the system.
std::optional<TorchProblem> open_torch() {
  const std::string folder = environment("NEUTRA_TORCH");
  if (folder == "none")
    return TorchProblem{Kind::kLeftOut, "NEUTRA_TORCH=none leaves LibTorch out", ""};
  fs::path file = fs::path(folder.empty() ? NEUTRA_TORCH_FOLDER : folder) / NEUTRA_TORCH_LIBRARY;
  if (!folder.empty() && !fs::exists(file)) file.replace_filename("libtorch_cpu.so");  // pip's
  if (!folder.empty() && !fs::exists(file)) {
    return TorchProblem{Kind::kUnfit,
                        "NEUTRA_TORCH: found " + folder +
                            ", without libtorch_cpu.so; allowed: the folder of LibTorch's "
                            "libraries (torch/lib of an installed "
                            "torch), or none",
                        ""};
  }
  if (file.has_parent_path() && !fs::exists(file)) {
    return TorchProblem{Kind::kLeftOut, "LibTorch is not installed: found no " + file.string(),
                        NEUTRA_TORCH_HINT};
  }
  std::string reason;  // names what isn't found: LibTorch, or what it needs
  void* const torch = open_library(file, RTLD_LAZY | RTLD_LOCAL, reason);
  if (torch != nullptr) {
    std::optional<TorchProblem> problem = misfit(torch);
    // Another version that the system happens to have is as good as none.
    if (problem && !file.has_parent_path()) problem->kind = Kind::kLeftOut;
    return problem;
  }
  if (!file.has_parent_path() && reason.starts_with(file.string() + ": cannot open")) {
    return TorchProblem{Kind::kLeftOut,
                        "LibTorch is not installed: the system has no " + file.string(),
                        NEUTRA_TORCH_HINT};
  }
  return TorchProblem{Kind::kUnfit, "LibTorch can't be loaded: " + reason, NEUTRA_TORCH_HINT};
}

/// Opens LibTorch and the module, whose functions become `functions`.
std::optional<TorchProblem> open_both(const TorchFunctions*& functions) {
  if (std::string_view(NEUTRA_TORCH_LIBRARY).empty()) {
    return TorchProblem{Kind::kLeftOut, "this neutra was built without the eager back end", ""};
  }
  const fs::path module = module_file("neutra_torch.so");
  if (!fs::exists(module)) {
    return TorchProblem{Kind::kLeftOut,
                        "this installation has no eager back end: found no " + module.string(),
                        "Debian's package, a build from source or a wheel made for a release of "
                        "torch has one"};
  }
  if (std::optional<TorchProblem> problem = open_torch()) return problem;
  try {
    functions = static_cast<const TorchFunctions*>(
        open_module(module, "the eager back end", "neutra_torch_functions", kModuleBuild));
  } catch (const Error& error) {
    // What LibTorch should have and does not is not the module's fault.
    if (contains(error.what(), "undefined symbol")) {
      return TorchProblem{Kind::kUnfit, error.what(), NEUTRA_TORCH_HINT};
    }
    return TorchProblem{Kind::kBroken, error.what(), ""};
  }
  try {
    warn_of_slow_products(*functions);
  } catch (const std::exception& error) {
    return TorchProblem{Kind::kUnfit, std::string("LibTorch doesn't work: ") + error.what(),
                        NEUTRA_TORCH_HINT};
  }
  return {};
}

struct Loaded {
  const TorchFunctions* functions = nullptr;
  std::optional<TorchProblem> problem;
};

const Loaded& loaded() {
  static const Loaded kLoaded = [] {
    prepare_libraries();
    Loaded result;
    result.problem = open_both(result.functions);
    return result;
  }();
  return kLoaded;
}

}  // namespace

const std::optional<TorchProblem>& torch_problem() { return loaded().problem; }

const TorchFunctions& torch_functions() {
  if (torch_problem()) throw failure(torch_problem()->text());
  return *loaded().functions;
}

}  // namespace neutra::training
