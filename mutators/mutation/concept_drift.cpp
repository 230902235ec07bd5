#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator concept_drift{
    .id = "concept_drift",
    .abbreviation = "TCN",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCN",
    .description =
        "Gives a share of the training rows, the first ones, the labels of another rule: that of "
        "the next class, or targets greater by their deviation.",
    .source =
        "Gama et al., A Survey on Concept Drift Adaptation, ACM Computing Surveys 46(4), 2014",
    .parameter = kPercentage,
    .refusal = refuse_one_class,
    .range = percentages,
    .edit = add_percentage_step_on_targets};

}  // namespace neutra::mutators::mutation
