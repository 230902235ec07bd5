#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_optimiser{
    "change_optimiser",
    "OCH",
    "Replaces the optimiser; the learning rate stays, its other settings are the new one's "
    "defaults.",
    kTable2,
    program::KeyKind::kOptimizer,
    [](const std::string&, Preset preset) {
      return preset_values(preset, program::KeyKind::kOptimizer);
    }};

}  // namespace neutra::mutators::neutrality
