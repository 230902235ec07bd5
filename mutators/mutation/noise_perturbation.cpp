#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator noise_perturbation{
    .id = "noise_perturbation",
    .abbreviation = "NP",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "NP",
    .description =
        "Adds normal noise of deviation 0.1 to the features of a share of the training rows.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "noise_perturbation", value, seed);
        }};

}  // namespace neutra::mutation
