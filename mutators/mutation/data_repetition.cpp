#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator data_repetition{
    .id = "data_repetition",
    .abbreviation = "DR",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "DR",
    .description = "Repeats a share of the training rows.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "data_repetition", value, seed);
        }};

}  // namespace neutra::mutation
