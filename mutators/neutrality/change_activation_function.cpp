#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_activation_function{
    "change_activation_function",
    "ACH",
    "Replaces the activation function of one layer.",
    kTable2,
    KeyKind::kActivation,
    [](const std::string&, Preset preset) { return preset_values(preset, KeyKind::kActivation); }};

}  // namespace neutra::neutrality
