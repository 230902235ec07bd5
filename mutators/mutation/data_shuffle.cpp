#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator data_shuffle{
    .id = "data_shuffle",
    .abbreviation = "DF",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "DF",
    .description = "Shuffles a share of the training rows among themselves.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
