#pragma once

#include <string>

namespace neutra::training {

struct TorchFunctions;

/// Settings of the process that must come before LibTorch's first operation: instruction set
/// (NEUTRA_ISA=avx2|avx512), memory kept by the allocator. Runs once; throws usage_error for an
/// unknown or unsupported NEUTRA_ISA.
void prepare_libraries();

/// What results depend on besides the program: instruction sets and versions. Loads LibTorch; where
/// it can't be used, warns on stderr if it is there, and says "no torch".
std::string library_fingerprint();

/// What LibTorch's summary of its configuration (at::show_config()) tells; "unknown" what it
/// doesn't.
struct TorchFacts {
  std::string version;     ///< "2.15.0"
  std::string capability;  ///< the kernels that it chose: "AVX2", ...
  std::string blas;        ///< "mkl", "generic", ...
};
TorchFacts torch_facts(const std::string& config);

/// Version and speed facts for `neutra --version` and file headers.
struct LibraryVersions {
  std::string torch;  ///< the LibTorch that runs where speed was measured, else that of the build
  std::string onednn, hdf5;
  // Of a small single-core product, where it was measured.
  std::string blas_route;  ///< of LibTorch: "oneDNN", "MKL", "reference BLAS (slow)"
  double gflops = 0;
};
/// Measuring loads LibTorch; throws failure() where it can't be used.
LibraryVersions library_versions(bool measure_speed);

/// False and one warning line on stderr when LibTorch's products go neither to oneDNN nor to MKL.
bool warn_of_slow_products(const TorchFunctions& functions);

}  // namespace neutra::training
