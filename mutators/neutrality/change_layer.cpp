#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_layer{"change_layer",
                                             "LRM|LAD",
                                             "Deletes a layer, doubles it, or takes either back.",
                                             kTable2,
                                             program::KeyKind::kRepeat,
                                             [](const std::string&, Preset preset) {
                                               return preset_values(preset,
                                                                    program::KeyKind::kRepeat);
                                             }};

}  // namespace neutra::mutators::neutrality
