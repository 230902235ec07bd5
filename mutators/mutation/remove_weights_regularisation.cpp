#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutation {

extern const MutationOperator remove_weights_regularisation{
    .id = "remove_weights_regularisation",
    .abbreviation = "RRW",
    .group = OperatorGroup::kRegularisation,
    .by_layer = true,
    .fault_type = "RRW",
    .description = "Removes the regulariser of the kernel of a layer.",
    .source = kDeepCrime,
    .refusal = [](const Target& target, Site site) -> std::string {
      if (!setting_at(target, site, "kernel_regularizer").is_null()) return "";
      return layer_text(target, site, "has no regulariser");
    },
    .edit =
        [](Json& document, const Target&, Site site, const Json&, std::uint64_t) {
          set_layer_field(document, static_cast<std::size_t>(site), "kernel_regularizer", Json());
        }};

}  // namespace neutra::mutation
