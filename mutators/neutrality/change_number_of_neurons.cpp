#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_number_of_neurons{
    "change_number_of_neurons",
    "LCN",
    "Multiplies or divides the number of units of one hidden Dense layer.",
    kTable2,
    program::KeyKind::kUnits,
    [](const std::string& current, Preset preset) {
      return step_integer(current, preset, program::KeyKind::kUnits);
    }};

}  // namespace neutra::mutators::neutrality
