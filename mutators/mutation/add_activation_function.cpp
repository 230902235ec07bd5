#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator add_activation_function{
    .id = "add_activation_function",
    .abbreviation = "AAL",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Gives a linear layer an activation function.",
    .source = kDeepCrime,
    .parameter = {.name = "activation",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of activations without linear"},
    .field = "activation",
    .refusal = refuse_not_linear,
    .values = [](const Target&, Site) { return operator_values("activation"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
