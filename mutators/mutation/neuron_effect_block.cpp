#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator neuron_effect_block{
    .id = "neuron_effect_block",
    .abbreviation = "NEB",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "NEB",
    .description = "Sets the outgoing weights of a share of the neurons of the trained model to 0.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_no_kernel,
    .range = percentages,
    .edit = add_trained_percentage_step};

}  // namespace neutra::mutators::mutation
