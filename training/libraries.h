#pragma once

#include <string>

namespace neutra {

/// Settings of the process that must come before LibTorch's first operation: instruction set
/// (NEUTRA_ISA=avx2|avx512), memory kept by the allocator. Runs once; throws input_error for an
/// unknown or unsupported NEUTRA_ISA.
void prepare_libraries();

/// What results depend on besides the program: instruction sets and versions.
std::string library_fingerprint();

}  // namespace neutra
