#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator remove_weights_regularisation{
    .id = "remove_weights_regularisation",
    .abbreviation = "RRW",
    .group = OperatorGroup::kRegularisation,
    .by_layer = true,
    .fault_type = "RRW",
    .description = "Removes the regulariser of the kernel of a layer.",
    .source = kDeepCrime,
    .field = "kernel_regularizer",
    .refusal = refuse_no_regularizer,
    .edit = set_field};

}  // namespace neutra::mutators::mutation
