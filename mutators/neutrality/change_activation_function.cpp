#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_activation_function{
    "change_activation_function",
    "ACH",
    "Replaces the activation function of one layer.",
    kTable2,
    program::KeyKind::kActivation,
    [](const std::string&, Preset preset) {
      return preset_values(preset, program::KeyKind::kActivation);
    }};

}  // namespace neutra::mutators::neutrality
