#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator neuron_switch{
    .id = "neuron_switch",
    .abbreviation = "NS",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "NS",
    .description =
        "Lets a share of the neurons of the trained model exchange their outgoing weights.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal =
        [](const Target& target, Site) {
          return refuse_without_kernel(
              target, [](const Shape& kernel) { return kernel[kernel.size() - 2] > 1; });
        },
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_trained_mutation(document, "neuron_switch", {{"percentage", value}, {"seed", seed}});
        }};

}  // namespace neutra::mutation
