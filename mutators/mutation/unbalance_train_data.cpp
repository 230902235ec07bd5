#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator unbalance_train_data{
    .id = "unbalance_train_data",
    .abbreviation = "TUD",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TUD",
    .description =
        "Deletes a share of the training rows of the classes that are smaller than the mean of "
        "all.",
    .source = kDeepCrime,
    .parameter = kPercentage,
    .random = true,
    .refusal = [](const Target& target, Site) -> std::string {
      return target.even_classes ? "training rows of classes of equal size" : "";
    },
    .range = percentages,
    .edit = add_percentage_step_on_targets};

}  // namespace neutra::mutators::mutation
