#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator data_missing{
    .id = "data_missing",
    .abbreviation = "DM",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "DM",
    .description = "Deletes a share of the training rows.",
    .source = kDeepMutation,
    .parameter = kPercentageOfRemoved,
    .random = true,
    .range = [](const Target&) { return percentages(99); },
    .edit = [](Json& document, const Target&, Site, const Json& value,
               std::uint64_t seed) { add_data_mutation(document, "data_missing", value, seed); }};

}  // namespace neutra::mutation
