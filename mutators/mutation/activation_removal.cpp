#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator activation_removal{
    .id = "activation_removal",
    .abbreviation = "AFRm",
    .group = OperatorGroup::kTrainedModel,
    .by_layer = true,
    .fault_type = "AFRm",
    .description =
        "Makes the activation of a layer of the trained model linear, the output layer excepted.",
    .source = kDeepMutation,
    .refusal = [](const Target& target,
                  Site site) { return refuse_trained_step(target, site, "activation_removal"); },
    .edit = add_trained_layer_step};

}  // namespace neutra::mutators::mutation
