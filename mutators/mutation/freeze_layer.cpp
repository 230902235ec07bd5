#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator freeze_layer{
    .id = "freeze_layer",
    .abbreviation = "LFZ",
    .group = OperatorGroup::kTrainingLoop,
    .by_layer = true,
    .fault_type = "LFZ",
    .description = "Freezes a layer.",
    .source = "PyTorch documentation, torch.nn.Module.requires_grad_: freezing part of a module",
    .field = "trainable",
    .refusal = refuse_untrained_layer,
    .edit = set_field_false};

}  // namespace neutra::mutators::mutation
