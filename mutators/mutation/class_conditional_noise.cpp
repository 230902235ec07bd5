#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator class_conditional_noise{
    .id = "class_conditional_noise",
    .abbreviation = "CCN",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "CCN",
    .description =
        "Gives a share of the training rows of each class the label of the class most like it.",
    .source =
        "Patrini et al., Making Deep Neural Networks Robust to Label Noise: A Loss Correction "
        "Approach, CVPR 2017",
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_no_classes,
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
