#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_weights_initialisation{
    .id = "change_weights_initialisation",
    .abbreviation = "WCI",
    .group = OperatorGroup::kWeights,
    .by_layer = true,
    .fault_type = "WCI",
    .description = "Replaces the initialiser of the kernel of a layer.",
    .source = kDeepCrime,
    .parameter = {.name = "initializer",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of initialisers"},
    .field = "kernel_initializer",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (has_setting(target, site, "kernel_initializer")) return "";
      return layer_text(target, site, "has no kernel");
    },
    .values = [](const Target&, Site) { return operator_values("initializer"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
