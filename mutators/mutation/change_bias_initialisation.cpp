#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_bias_initialisation{
    .id = "change_bias_initialisation",
    .abbreviation = "BCI",
    .group = OperatorGroup::kWeights,
    .by_layer = true,
    .fault_type = "BCI",
    .description = "Replaces the initialiser of the bias of a layer.",
    .source = kFaultStudy,
    .parameter = {.name = "initializer",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "initialisers that don't look at a kernel's extents"},
    .field = "bias_initializer",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (setting_at(target, site, "use_bias") == true) return "";
      return layer_text(target, site, "has no bias");
    },
    .values = [](const Target&, Site) { return operator_values("bias_initializer"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
