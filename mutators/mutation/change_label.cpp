#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_label{
    .id = "change_label",
    .abbreviation = "TCL",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCL",
    .description =
        "Gives a share of the rows of the most frequent class the label of another class; adds "
        "noise to the targets of a regression.",
    .source = kDeepCrime,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_one_class,
    .range = percentages,
    .edit = add_percentage_step_on_targets};

}  // namespace neutra::mutators::mutation
