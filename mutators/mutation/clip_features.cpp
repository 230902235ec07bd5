#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator clip_features{
    .id = "clip_features",
    .abbreviation = "TCR",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCR",
    .description = "Cuts a share off the range of each feature of the training rows.",
    .source = kRealFaults,
    .parameter = kPercentage,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
