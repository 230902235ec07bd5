#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator make_output_classes_overlap{
    .id = "make_output_classes_overlap",
    .abbreviation = "TCO",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCO",
    .description =
        "Repeats a share of the rows of the most frequent class with the label of the second most "
        "frequent.",
    .source = kDeepCrime,
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_one_class,
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target& target, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "make_output_classes_overlap", value, seed,
                            targets_of(target));
        }};

}  // namespace neutra::mutation
