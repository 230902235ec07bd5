#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_kernel_initialiser{
    "change_kernel_initialiser",
    "WCI",
    "Replaces the kernel initialiser of one layer.",
    kTable2,
    KeyKind::kKernelInitializer,
    [](const std::string&, Preset preset) {
      return preset_values(preset, KeyKind::kKernelInitializer);
    }};

}  // namespace neutra::neutrality
