#include "mutators/mutation_operator.h"

namespace neutra::mutation {

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
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target& target, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "unbalance_train_data", value, seed, targets_of(target));
        }};

}  // namespace neutra::mutation
