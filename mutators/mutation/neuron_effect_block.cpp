#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator neuron_effect_block{
    .id = "neuron_effect_block",
    .abbreviation = "NEB",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "NEB",
    .description = "Sets the outgoing weights of a share of the neurons of the trained model to 0.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal = [](const Target& target, Site) { return refuse_without_kernel(target); },
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_trained_mutation(document, "neuron_effect_block",
                               {{"percentage", value}, {"seed", seed}});
        }};

}  // namespace neutra::mutation
