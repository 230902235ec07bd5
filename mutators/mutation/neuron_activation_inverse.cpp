#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator neuron_activation_inverse{
    .id = "neuron_activation_inverse",
    .abbreviation = "NAI",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "NAI",
    .description =
        "Changes the sign of the incoming weights of a share of the neurons of the trained model.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal = [](const Target& target, Site) { return refuse_without_kernel(target); },
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_trained_mutation(document, "neuron_activation_inverse",
                               {{"percentage", value}, {"seed", seed}});
        }};

}  // namespace neutra::mutation
