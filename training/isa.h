#pragma once

#include <optional>
#include <string>

namespace neutra::training {

/// Vector instructions of x86-64 that results may depend on.
enum class InstructionSet { kAvx2, kAvx512 };

/// Can this processor run it? AVX-512 means F, VL, BW and DQ.
bool supports(InstructionSet isa);

/// What NEUTRA_ISA asks for (avx2, avx512); nullopt where it is unset or empty. Throws usage_error
/// for other words and for what this processor lacks.
std::optional<InstructionSet> wanted_instruction_set();

}  // namespace neutra::training
