#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_activation_function{
    .id = "change_activation_function",
    .abbreviation = "ACH",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Replaces the activation function of a layer.",
    .source = kDeepCrime,
    .parameter = {.name = "activation",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of activations"},
    .field = "activation",
    .refusal = refuse_no_activation,
    .values = [](const Target&, Site) { return operator_values("activation"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
