#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator scale_features{
    .id = "scale_features",
    .abbreviation = "TSF",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TSF",
    .description = "Multiplies the features of a share of the training rows by 255.",
    .source = kRealFaults,
    .parameter = kPercentage,
    .random = true,
    .range = [](const Target&) { return percentages(100); },
    .edit = [](Json& document, const Target&, Site, const Json& value,
               std::uint64_t seed) { add_data_mutation(document, "scale_features", value, seed); }};

}  // namespace neutra::mutation
