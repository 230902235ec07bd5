#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_bias_initialiser{
    "change_bias_initialiser",
    "BCI",
    "Replaces the bias initialiser of one layer.",
    kTable2,
    program::KeyKind::kBiasInitializer,
    [](const std::string&, Preset preset) {
      return preset_values(preset, program::KeyKind::kBiasInitializer);
    }};

}  // namespace neutra::mutators::neutrality
