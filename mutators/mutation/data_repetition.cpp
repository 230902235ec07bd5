#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator data_repetition{
    .id = "data_repetition",
    .abbreviation = "DR",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "DR",
    .description = "Repeats a share of the training rows.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
