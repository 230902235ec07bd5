#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_weights_regularisation{
    .id = "change_weights_regularisation",
    .abbreviation = "RCW",
    .group = OperatorGroup::kRegularisation,
    .by_layer = true,
    .fault_type = "RAW",
    .description = "Replaces the regulariser of the kernel of a layer.",
    .source = kDeepCrime,
    .parameter = kRegularizer,
    .field = "kernel_regularizer",
    .refusal = refuse_no_regularizer,
    .values = [](const Target&, Site) { return operator_values("regularizer"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
