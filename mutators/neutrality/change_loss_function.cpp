#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_loss_function{
    "change_loss_function",
    "LCH",
    "Replaces the loss function.",
    kTable2,
    KeyKind::kLoss,
    [](const std::string&, Preset preset) { return preset_values(preset, KeyKind::kLoss); }};

}  // namespace neutra::neutrality
