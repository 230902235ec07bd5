#include "mutators/mutation_operator.h"

namespace neutra::mutation {

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
    .edit =
        [](Json& document, const Target&, Site site, const Json&, std::uint64_t) {
          add_trained_mutation(document, "activation_removal", {{"layer", site}});
        }};

}  // namespace neutra::mutation
