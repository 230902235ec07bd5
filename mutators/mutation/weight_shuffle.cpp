#include "mutators/mutation_operator.h"
#include "program/layer.h"

namespace neutra::mutators::mutation {

extern const MutationOperator weight_shuffle{
    .id = "weight_shuffle",
    .abbreviation = "WS",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "WS",
    .description = "Shuffles the incoming weights of a share of the neurons of the trained model.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal =
        [](const Target& target, Site) {
          return refuse_without_kernel(target, [](const program::Shape& kernel) {
            return program::element_count(kernel) > kernel.back();
          });
        },
    .range = percentages,
    .edit = add_trained_percentage_step};

}  // namespace neutra::mutators::mutation
