#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

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
    .refusal = refuse_no_kernel,
    .range = percentages,
    .edit = add_trained_percentage_step};

}  // namespace neutra::mutators::mutation
