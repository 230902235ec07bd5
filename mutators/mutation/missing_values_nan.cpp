#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator missing_values_nan{
    .id = "missing_values_nan",
    .abbreviation = "TMN",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TMV",
    .description = "Sets a share of the features of the training rows to NaN, as missing values.",
    .source = kDataBugs,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
               std::uint64_t seed) {
      add_data_step(
          document,
          {{"op", "missing_values"}, {"percentage", value}, {"seed", seed}, {"fill", "nan"}});
    }};

}  // namespace neutra::mutators::mutation
