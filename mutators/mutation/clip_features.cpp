#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator clip_features{
    .id = "clip_features",
    .abbreviation = "TCR",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCR",
    .description = "Cuts a share off the range of each feature of the training rows.",
    .source = kRealFaults,
    .parameter = kPercentage,
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t) {
          add_data_step(document, {{"op", "clip_features"}, {"percentage", value}});
        }};

}  // namespace neutra::mutation
