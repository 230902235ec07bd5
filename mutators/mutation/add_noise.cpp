#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator add_noise{
    .id = "add_noise",
    .abbreviation = "TAN",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TAN",
    .description =
        "Adds normal noise to the features of a share of the training rows; its deviation is the "
        "same share of the row's own.",
    .source = kDeepCrime,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
