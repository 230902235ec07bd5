#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_epochs{"change_epochs",
                                              "HNE",
                                              "Multiplies or divides the number of epochs.",
                                              kTable2,
                                              program::KeyKind::kEpochs,
                                              [](const std::string& current, Preset preset) {
                                                return step_integer(current, preset,
                                                                    program::KeyKind::kEpochs);
                                              }};

}  // namespace neutra::mutators::neutrality
