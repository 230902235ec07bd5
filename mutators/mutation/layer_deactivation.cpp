#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator layer_deactivation{
    .id = "layer_deactivation",
    .abbreviation = "LD",
    .group = OperatorGroup::kTrainedModel,
    .by_layer = true,
    .fault_type = "LD",
    .description =
        "Leaves a layer of the trained model out whose output has the shape of its input.",
    .source = kDeepMutation,
    .refusal = [](const Target& target,
                  Site site) { return refuse_trained_step(target, site, "layer_deactivation"); },
    .edit = add_trained_layer_step};

}  // namespace neutra::mutators::mutation
