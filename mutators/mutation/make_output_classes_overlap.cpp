#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator make_output_classes_overlap{
    .id = "make_output_classes_overlap",
    .abbreviation = "TCO",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCO",
    .description =
        "Repeats a share of the rows of the most frequent class with the label of the second most "
        "frequent.",
    .source = kDeepCrime,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_one_class,
    .range = percentages,
    .edit = add_percentage_step_on_targets};

}  // namespace neutra::mutators::mutation
