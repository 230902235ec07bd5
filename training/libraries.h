#pragma once

#include <string>

namespace neutra {

/// Settings of the process that must come before LibTorch's first operation: instruction set
/// (NEUTRA_ISA=avx2|avx512), memory kept by the allocator. Runs once; throws usage_error for an
/// unknown or unsupported NEUTRA_ISA.
void prepare_libraries();

/// What results depend on besides the program: instruction sets and versions.
std::string library_fingerprint();

/// Version and speed facts for `neutra --version` and file headers.
struct LibraryVersions {
  std::string torch, onednn, hdf5;
  std::string
      blas_route;     ///< "oneDNN" when sgemm_ is answered by oneDNN, else "reference BLAS (slow)"
  double gflops = 0;  ///< of a small single-core product; 0 when not measured
};
LibraryVersions library_versions(bool measure_speed);

/// Multiplies two small matrices through LibTorch and compares with the expected result; false and
/// one warning line on stderr when sgemm_ is not answered by oneDNN.
bool check_blas_route();

}  // namespace neutra
