#include "mutators/neutrality_operator.h"

namespace neutra::mutators::neutrality {

extern const NeutralityOperator change_batch_size{"change_batch_size",
                                                  "HBS",
                                                  "Replaces the batch size.",
                                                  kTable2,
                                                  program::KeyKind::kBatchSize,
                                                  [](const std::string&, Preset preset) {
                                                    return preset_values(
                                                        preset, program::KeyKind::kBatchSize);
                                                  }};

}  // namespace neutra::mutators::neutrality
