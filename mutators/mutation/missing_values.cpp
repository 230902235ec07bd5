#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator missing_values{
    .id = "missing_values",
    .abbreviation = "TMV",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TMV",
    .description = "Sets a share of the features of the training rows to 0, as missing values.",
    .source = kDataBugs,
    .parameter = kPercentage,
    .random = true,
    .range = [](const Target&) { return percentages(100); },
    .edit = [](Json& document, const Target&, Site, const Json& value,
               std::uint64_t seed) { add_data_mutation(document, "missing_values", value, seed); }};

}  // namespace neutra::mutation
