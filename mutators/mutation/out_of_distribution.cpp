#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator out_of_distribution{
    .id = "out_of_distribution",
    .abbreviation = "OOD",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "OOD",
    .description =
        "Replaces the features of a share of the training rows by uniform noise in their range.",
    .source = "Wang et al., Iterative Learning with Open-set Noisy Labels, CVPR 2018",
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
