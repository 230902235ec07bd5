#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutation {

extern const MutationOperator remove_activation_function{
    .id = "remove_activation_function",
    .abbreviation = "ARM",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Makes the activation of a layer linear.",
    .source = kDeepCrime,
    .refusal = refuse_linear,
    .edit = [](Json& document, const Target&, Site site, const Json&, std::uint64_t) {
      set_layer_field(document, static_cast<std::size_t>(site), "activation", "linear");
    }};

}  // namespace neutra::mutation
