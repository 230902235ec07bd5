#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator data_shuffle{
    .id = "data_shuffle",
    .abbreviation = "DF",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "DF",
    .description = "Shuffles a share of the training rows among themselves.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .range = [](const Target&) { return percentages(100); },
    .edit = [](Json& document, const Target&, Site, const Json& value,
               std::uint64_t seed) { add_data_mutation(document, "data_shuffle", value, seed); }};

}  // namespace neutra::mutation
