#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator class_imbalance{
    .id = "class_imbalance",
    .abbreviation = "TCI",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TCI",
    .description = "Thins out the training rows so that the sizes of classes fall exponentially.",
    .source = "Cui et al., Class-Balanced Loss Based on Effective Number of Samples, CVPR 2019",
    .parameter = {.name = "ratio",
                  .type = ValueType::kNumber,
                  .search = ValueSearch::kBinary,
                  .values = "1 to 100: rows of the largest class for one of the smallest",
                  .least = 1,
                  .most = 1e6},
    .random = true,
    .refusal = refuse_one_class,
    .range =
        [](const Target&) {
          return ValueRange{1, 100, 1, 1};
        },
    .edit =
        [](const MutationOperator&, Json& document, const Target& target, Site, const Json& value,
           std::uint64_t seed) {
          Json step = {{"op", "class_imbalance"}, {"ratio", value}, {"seed", seed}};
          step.update(targets_of(target));
          add_data_step(document, std::move(step));
        }};

}  // namespace neutra::mutators::mutation
