#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator noise_perturbation{
    .id = "noise_perturbation",
    .abbreviation = "NP",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "NP",
    .description =
        "Adds normal noise of deviation 0.1 to the features of a share of the training rows.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
