#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_bias_initialiser{
    "change_bias_initialiser",
    "BCI",
    "Replaces the bias initialiser of one layer.",
    kTable2,
    KeyKind::kBiasInitializer,
    [](const std::string&, Preset preset) {
      return preset_values(preset, KeyKind::kBiasInitializer);
    }};

}  // namespace neutra::neutrality
