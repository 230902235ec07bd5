#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator remove_bias{
    .id = "remove_bias",
    .abbreviation = "WRB",
    .group = OperatorGroup::kWeights,
    .by_layer = true,
    .fault_type = "WRB",
    .description = "Takes the bias off a layer.",
    .source = kDeepCrime,
    .field = "use_bias",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (!has_setting(target, site, "use_bias")) {
        return layer_text(target, site, "can have no bias");
      }
      if (setting_at(target, site, "use_bias") != false) return "";
      return layer_text(target, site, "has no bias");
    },
    .edit = set_field_false};

}  // namespace neutra::mutators::mutation
