#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator cast_features{
    .id = "cast_features",
    .abbreviation = "TCF",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCF",
    .description = "Casts the features of the training rows to another type and back.",
    .source = kTensorBugs,
    .parameter = {.name = "type",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "float16, int32, int8, uint8",
                  .closed = true},
    .values = [](const Target&, Site) { return operator_values("cast_type"); },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
           std::uint64_t) {
          add_data_step(document, {{"op", "cast_features"}, {"percentage", 100}, {"type", value}});
        }};

}  // namespace neutra::mutators::mutation
