#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator remove_activation_function{
    .id = "remove_activation_function",
    .abbreviation = "ARM",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Makes the activation of a layer linear.",
    .source = kDeepCrime,
    .field = "activation",
    .refusal = refuse_linear,
    .edit = make_linear};

}  // namespace neutra::mutators::mutation
