#pragma once

#include <string>

namespace neutra::training {

struct TorchFunctions;

/// Settings of the process that must come before LibTorch's first operation: instruction set
/// (NEUTRA_ISA=avx2|avx512), memory kept by the allocator. Runs once; throws usage_error for an
/// unknown or unsupported NEUTRA_ISA.
void prepare_libraries();

/// What results depend on besides the program: instruction sets and versions.
std::string library_fingerprint();

/// Version and speed facts for `neutra --version` and file headers.
struct LibraryVersions {
  std::string torch, onednn, hdf5;
  // Of a small single-core product, where it was measured.
  std::string blas_route;  ///< "oneDNN" when sgemm_ is answered by it, else "reference BLAS (slow)"
  double gflops = 0;
};
/// Measuring loads LibTorch.
LibraryVersions library_versions(bool measure_speed);

/// False and one warning line on stderr when LibTorch's sgemm_ is not answered by oneDNN.
bool warn_of_slow_products(const TorchFunctions& functions);

}  // namespace neutra::training
