#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

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
    .range = percentages,
    .edit = add_percentage_step};

}  // namespace neutra::mutators::mutation
