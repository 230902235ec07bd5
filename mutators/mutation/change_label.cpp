#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator change_label{
    .id = "change_label",
    .abbreviation = "TCL",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCL",
    .description =
        "Gives a share of the rows of the most frequent class the label of another class; adds "
        "noise to the targets of a regression.",
    .source = kDeepCrime,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_one_class,
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target& target, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "change_label", value, seed, targets_of(target));
        }};

}  // namespace neutra::mutation
