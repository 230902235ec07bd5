#include "training/isa.h"

#include "base/environment.h"
#include "base/error.h"

namespace neutra::training {

bool supports(InstructionSet isa) {
#if defined(__x86_64__)
  if (isa == InstructionSet::kAvx2) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
  static_cast<void>(isa);
  return false;
#endif
}

std::optional<InstructionSet> wanted_instruction_set() {
  const std::string word = environment("NEUTRA_ISA");
  if (word.empty()) return std::nullopt;
  if (word != "avx2" && word != "avx512") {
    throw usage_error("NEUTRA_ISA: found " + word + "; allowed: avx2, avx512");
  }
  const InstructionSet isa = word == "avx2" ? InstructionSet::kAvx2 : InstructionSet::kAvx512;
  if (!supports(isa)) throw usage_error("NEUTRA_ISA: this processor lacks " + word);
  return isa;
}

}  // namespace neutra::training
