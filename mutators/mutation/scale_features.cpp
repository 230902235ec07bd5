#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator scale_features{
    .id = "scale_features",
    .abbreviation = "TSF",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TSF",
    .description = "Multiplies the features of a share of the training rows by 255.",
    .source = kRealFaults,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
