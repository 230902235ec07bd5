#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator gaussian_fuzz{
    .id = "gaussian_fuzz",
    .abbreviation = "GF",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "GF",
    .description =
        "Adds normal noise of deviation 0.1 to a share of the weights of the trained model.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_no_kernel,
    .range = percentages,
    .edit = add_trained_percentage_step};

}  // namespace neutra::mutators::mutation
