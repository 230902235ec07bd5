#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator add_weights_regularisation{
    .id = "add_weights_regularisation",
    .abbreviation = "RAW",
    .group = OperatorGroup::kRegularisation,
    .by_layer = true,
    .fault_type = "RAW",
    .description = "Adds a regulariser to the kernel of a layer that has none.",
    .source = kDeepCrime,
    .parameter = kRegularizer,
    .field = "kernel_regularizer",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (!has_setting(target, site, "kernel_regularizer")) {
        return layer_text(target, site, "has no kernel");
      }
      if (setting_at(target, site, "kernel_regularizer").is_null()) return "";
      return layer_text(target, site, "has a regulariser");
    },
    .values = [](const Target&, Site) { return operator_values("regularizer"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
