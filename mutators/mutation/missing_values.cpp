#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator missing_values{
    .id = "missing_values",
    .abbreviation = "TMV",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TMV",
    .description = "Sets a share of the features of the training rows to 0, as missing values.",
    .source = kDataBugs,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
