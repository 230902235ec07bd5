#include "training/libraries.h"

#include <ATen/Version.h>
#include <dnnl.h>
#include <hdf5.h>
#include <malloc.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include "program/error.h"
#include "training/isa.h"
#include "training/torch.h"

/// Defined in sgemm.cpp, which is linked into the executable; null in one that lacks it.
extern "C" __attribute__((weak)) std::uint64_t neutra_sgemm_calls();

namespace neutra {
namespace {

void choose_instruction_set() {
  const std::optional<InstructionSet> isa = wanted_instruction_set();
  if (!isa) return;
  const bool avx2 = *isa == InstructionSet::kAvx2;
  setenv("ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "avx512", 1);
  dnnl_set_max_cpu_isa(avx2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_avx512_core);
}

/// Did a product in LibTorch go through our sgemm_?
bool routed() {
  const at::NoGradGuard guard;
  if (neutra_sgemm_calls == nullptr) return false;
  const std::uint64_t before = neutra_sgemm_calls();
  const at::Tensor a = at::arange(64, at::kFloat).view({8, 8});
  const at::Tensor product = at::mm(a, at::eye(8).mul_(2));
  return neutra_sgemm_calls() > before && at::equal(product, a * 2);
}

std::string version_text(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string dnnl_version_text() {
  const dnnl_version_t* v = dnnl_version();
  return version_text(v->major, v->minor, v->patch);
}

/// The kernels that LibTorch chose: "AVX2", ...; it tells only in its summary of the configuration.
std::string aten_capability() {
  const std::string config = at::show_config(), label = "CPU capability usage: ";
  const std::size_t begin = config.find(label);
  if (begin == std::string::npos) return "unknown";
  const std::size_t from = begin + label.size();
  return config.substr(from, config.find('\n', from) - from);
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

std::string library_fingerprint() {
  prepare_libraries();
  return std::string("torch ") + TORCH_VERSION + " " + aten_capability() + ", oneDNN " +
         dnnl_version_text() + " isa " +
         std::to_string(static_cast<int>(dnnl_get_effective_cpu_isa())) + ", sgemm " +
         (routed() ? "oneDNN" : "BLAS");
}

LibraryVersions library_versions(bool measure_speed) {
  prepare_libraries();
  LibraryVersions versions;
  versions.torch = TORCH_VERSION;
  versions.onednn = dnnl_version_text();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  versions.hdf5 =
      version_text(static_cast<int>(major), static_cast<int>(minor), static_cast<int>(release));
  versions.blas_route = routed() ? "oneDNN" : "reference BLAS (slow)";
  if (measure_speed) {
    at::set_num_threads(1);
    constexpr std::int64_t kSize = 512;
    const at::NoGradGuard guard;
    const at::Tensor a = at::ones({kSize, kSize}), b = at::ones({kSize, kSize});
    at::Tensor c = at::mm(a, b);
    for (int i = 0; i < 5; ++i) {  // the best of five: others use the machine too
      const auto start = std::chrono::steady_clock::now();
      at::mm_out(c, a, b);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      versions.gflops =
          std::max(versions.gflops, 2.0 * kSize * kSize * kSize / seconds.count() / 1e9);
    }
  }
  return versions;
}

bool check_blas_route() {
  prepare_libraries();
  if (routed()) return true;
  std::cerr << "warning: matrix products go to the system's BLAS instead of oneDNN and may be "
               "30 times slower\n";
  return false;
}

}  // namespace neutra
