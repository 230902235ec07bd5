#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

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
              target, [](const program::Shape& kernel) { return kernel[kernel.size() - 2] > 1; });
        },
    .range = percentages,
    .edit = add_trained_percentage_step};

}  // namespace neutra::mutators::mutation
