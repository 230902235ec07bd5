#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator delete_training_data{
    .id = "delete_training_data",
    .abbreviation = "TRD",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TRD",
    .description = "Deletes a share of the training rows of each class.",
    .source = kDeepCrime,
    .parameter = kPercentageOfRemoved,
    .random = true,
    .range = percentages_of_removed,
    .edit = add_percentage_step_on_targets};

}  // namespace neutra::mutators::mutation
