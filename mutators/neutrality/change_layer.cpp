#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_layer{
    "change_layer",
    "LRM|LAD",
    "Deletes a layer, doubles it, or takes either back.",
    kTable2,
    KeyKind::kRepeat,
    [](const std::string&, Preset preset) { return preset_values(preset, KeyKind::kRepeat); }};

}  // namespace neutra::neutrality
