#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator layer_copy{
    .id = "layer_copy",
    .abbreviation = "LAm",
    .group = OperatorGroup::kTrainedModel,
    .by_layer = true,
    .fault_type = "LAm",
    .description = "Puts a copy of a layer of the trained model, with its weights, behind it.",
    .source = kDeepMutation,
    .refusal = [](const Target& target,
                  Site site) { return refuse_trained_step(target, site, "layer_copy"); },
    .edit = add_trained_layer_step};

}  // namespace neutra::mutators::mutation
