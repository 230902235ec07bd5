#include "mutators/neutrality_operator.h"

namespace neutra::neutrality {

extern const NeutralityOperator change_batch_size{
    "change_batch_size",
    "HBS",
    "Replaces the batch size.",
    kTable2,
    KeyKind::kBatchSize,
    [](const std::string&, Preset preset) { return preset_values(preset, KeyKind::kBatchSize); }};

}  // namespace neutra::neutrality
