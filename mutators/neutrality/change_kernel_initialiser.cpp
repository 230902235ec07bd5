#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_kernel_initialiser{
    "change_kernel_initialiser",
    "WCI",
    "Replaces the kernel initialiser of one layer.",
    kTable2,
    program::KeyKind::kKernelInitializer,
    [](const std::string&, Preset preset) {
      return preset_values(preset, program::KeyKind::kKernelInitializer);
    }};

}  // namespace neutra::mutators::neutrality
