#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator label_error{
    .id = "label_error",
    .abbreviation = "LE",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "LE",
    .description = "Gives a share of the training rows a random label.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_no_classes,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
