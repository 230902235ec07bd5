#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutation {

extern const MutationOperator freeze_layer{
    .id = "freeze_layer",
    .abbreviation = "LFZ",
    .group = OperatorGroup::kTrainingLoop,
    .by_layer = true,
    .fault_type = "LFZ",
    .description = "Freezes a layer.",
    .source = "PyTorch documentation, torch.nn.Module.requires_grad_: freezing part of a module",
    .refusal = refuse_untrained_layer,
    .edit = [](Json& document, const Target&, Site site, const Json&, std::uint64_t) {
      set_layer_field(document, static_cast<std::size_t>(site), "trainable", false);
    }};

}  // namespace neutra::mutation
