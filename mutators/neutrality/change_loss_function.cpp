#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_loss_function{"change_loss_function",
                                                     "LCH",
                                                     "Replaces the loss function.",
                                                     kTable2,
                                                     program::KeyKind::kLoss,
                                                     [](const std::string&, Preset preset) {
                                                       return preset_values(
                                                           preset, program::KeyKind::kLoss);
                                                     }};

}  // namespace neutra::mutators::neutrality
