#include "training/libraries.h"

#include <dnnl.h>
#include <hdf5.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include "base/error.h"
#include "base/warn_once.h"
#include "training/isa.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

void choose_instruction_set() {
  const std::optional<InstructionSet> isa = wanted_instruction_set();
  if (!isa) return;
  const bool avx2 = *isa == InstructionSet::kAvx2;
  setenv("ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "avx512", 1);
  dnnl_set_max_cpu_isa(avx2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_avx512_core);
}

/// The text between a label and what ends it; "unknown" without the label.
std::string told(const std::string& config, const std::string& label, char end) {
  const std::size_t begin = config.find(label);
  if (begin == std::string::npos) return "unknown";
  const std::size_t from = begin + label.size();
  return config.substr(from, config.find(end, from) - from);
}

/// What answers LibTorch's matrix products.
std::string blas_route(const TorchFunctions& functions) {
  if (functions.routed()) return "oneDNN";
  return torch_facts(functions.config()).blas == "mkl" ? "MKL" : "BLAS";
}

std::string version_text(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string dnnl_version_text() {
  const dnnl_version_t* v = dnnl_version();
  return version_text(v->major, v->minor, v->patch);
}

}  // namespace

void prepare_libraries() {
  static std::once_flag once;
  std::call_once(once, [] {
    choose_instruction_set();
    // Tensors are made and freed all the time: giving their pages back to the system and faulting
    // them in again costs up to a third of a training.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
  });
}

TorchFacts torch_facts(const std::string& config) {
  return {told(config, "TORCH_VERSION=", ','), told(config, "CPU capability usage: ", '\n'),
          told(config, "BLAS_INFO=", ',')};
}

std::string library_fingerprint() {
  prepare_libraries();
  const std::string onednn = "oneDNN " + dnnl_version_text() + " isa " +
                             std::to_string(static_cast<int>(dnnl_get_effective_cpu_isa()));
  if (const std::optional<TorchProblem>& problem = torch_problem()) {
    if (!problem->left_out()) warn_once(problem->text());
    return "no torch, " + onednn;
  }
  const TorchFunctions& functions = torch_functions();
  const TorchFacts torch = torch_facts(functions.config());
  return "torch " + torch.version + " " + torch.capability + ", " + onednn + ", sgemm " +
         blas_route(functions);
}

LibraryVersions library_versions(bool measure_speed) {
  prepare_libraries();
  LibraryVersions versions;
  versions.torch = NEUTRA_TORCH_VERSION;
  versions.onednn = dnnl_version_text();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  versions.hdf5 =
      version_text(static_cast<int>(major), static_cast<int>(minor), static_cast<int>(release));
  if (measure_speed) {
    const TorchFunctions& functions = torch_functions();
    versions.torch = torch_facts(functions.config()).version;
    versions.blas_route = blas_route(functions);
    if (versions.blas_route == "BLAS") versions.blas_route = "reference BLAS (slow)";
    versions.gflops = functions.gflops();
  }
  return versions;
}

bool warn_of_slow_products(const TorchFunctions& functions) {
  if (blas_route(functions) != "BLAS") return true;
  std::cerr << "warning: matrix products go to the system's BLAS instead of oneDNN and may be "
               "30 times slower\n";
  return false;
}

}  // namespace neutra::training
