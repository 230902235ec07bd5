#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutation {

extern const MutationOperator add_weights_regularisation{
    .id = "add_weights_regularisation",
    .abbreviation = "RAW",
    .group = OperatorGroup::kRegularisation,
    .by_layer = true,
    .fault_type = "RAW",
    .description = "Adds a regulariser to the kernel of a layer that has none.",
    .source = kDeepCrime,
    .parameter = kRegularizer,
    .refusal = [](const Target& target, Site site) -> std::string {
      if (!has_setting(target, site, "kernel_regularizer")) {
        return layer_text(target, site, "has no kernel");
      }
      if (setting_at(target, site, "kernel_regularizer").is_null()) return "";
      return layer_text(target, site, "has a regulariser");
    },
    .values = [](const Target&, Site) { return operator_values("regularizer"); },
    .edit =
        [](Json& document, const Target&, Site site, const Json& value, std::uint64_t) {
          set_layer_field(document, static_cast<std::size_t>(site), "kernel_regularizer", value);
        }};

}  // namespace neutra::mutation
