#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_number_of_neurons{
    "change_number_of_neurons",
    "LCN",
    "Multiplies or divides the number of units of one hidden Dense layer.",
    kTable2,
    KeyKind::kUnits,
    [](const std::string& current, Preset preset) {
      return step_integer(current, preset, KeyKind::kUnits);
    }};

}  // namespace neutra::neutrality
