#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator delete_training_data{
    .id = "delete_training_data",
    .abbreviation = "TRD",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TRD",
    .description = "Deletes a share of the training rows of each class.",
    .source = kDeepCrime,
    .parameter = kPercentageOfRemoved,
    .random = true,
    .range = [](const Target&) { return percentages(99); },
    .edit =
        [](Json& document, const Target& target, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "delete_training_data", value, seed, targets_of(target));
        }};

}  // namespace neutra::mutation
