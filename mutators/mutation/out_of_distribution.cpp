#include "mutators/mutation_operator.h"

namespace neutra::mutation {

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
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "out_of_distribution", value, seed);
        }};

}  // namespace neutra::mutation
