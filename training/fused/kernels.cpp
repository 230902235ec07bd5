#include "training/fused/kernels.h"

#include "training/isa.h"
#include "training/losses/list.h"

namespace neutra::training::fused {

bool needs_input(Function function) {
  switch (function) {
    case Function::kSoftplus:
    case Function::kSoftsign:
    case Function::kSwish:
    case Function::kGelu:
    case Function::kHardSigmoid:
    case Function::kLeakyRelu:
    case Function::kGeneralRelu:
      return true;
    default:
      return false;
  }
}

bool is_pointwise(LossFunction function) {
  bool found = false;
  losses::for_each_loss([&]<typename Output, typename Logits>(losses::Named<Output, Logits>) {
    if (Output::kFunction == function) found = losses::kPointwise<Output>;
    if (Logits::kFunction == function) found = losses::kPointwise<Logits>;
  });
  return found;
}

std::vector<NamedKernels> available_kernels() {
  std::vector<NamedKernels> tables;
  if (supports(InstructionSet::kAvx512)) tables.push_back({"avx512", avx512_kernels()});
  if (supports(InstructionSet::kAvx2)) tables.push_back({"avx2", avx2_kernels()});
  tables.push_back({"generic", generic_kernels()});
  return tables;
}

const KernelTable<float>& kernels() {
  static const KernelTable<float>& chosen = []() -> const KernelTable<float>& {
    const std::vector<NamedKernels> tables = available_kernels();
    if (wanted_instruction_set() == InstructionSet::kAvx2) return *avx2_kernels();
    return *tables.front().table;
  }();
  return chosen;
}

}  // namespace neutra::training::fused
