#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator covariate_drift{
    .id = "covariate_drift",
    .abbreviation = "TVD",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TVD",
    .description =
        "Shifts the features of a share of the training rows, the first ones, by their deviation, "
        "ever less from row to row.",
    .source =
        "Gama et al., A Survey on Concept Drift Adaptation, ACM Computing Surveys 46(4), 2014",
    .parameter = kPercentage,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
