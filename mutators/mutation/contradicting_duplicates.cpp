#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator contradicting_duplicates{
    .id = "contradicting_duplicates",
    .abbreviation = "TCD",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCD",
    .description =
        "Adds slightly changed copies of a share of the training rows, each with the label of "
        "another row.",
    .source =
        "Croft, Babar and Kholoosi, Data Quality for Software Vulnerability Datasets, ICSE 2023",
    .parameter = kPercentage,
    .random = true,
    .refusal = refuse_one_class,
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_data_mutation(document, "contradicting_duplicates", value, seed);
        }};

}  // namespace neutra::mutation
