#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_epochs{"change_epochs",
                                              "HNE",
                                              "Multiplies or divides the number of epochs.",
                                              kTable2,
                                              KeyKind::kEpochs,
                                              [](const std::string& current, Preset preset) {
                                                return step_integer(current, preset,
                                                                    KeyKind::kEpochs);
                                              }};

}  // namespace neutra::neutrality
