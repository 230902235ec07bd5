#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator missing_values_sentinel{
    .id = "missing_values_sentinel",
    .abbreviation = "TMS",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TMV",
    .description = "Sets a share of the features of the training rows to -999, as missing values.",
    .source = kDataBugs,
    .parameter = kPercentage,
    .random = true,
    .range = percentages,
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
               std::uint64_t seed) {
      add_data_step(
          document,
          {{"op", "missing_values"}, {"percentage", value}, {"seed", seed}, {"fill", -999}});
    }};

}  // namespace neutra::mutators::mutation
