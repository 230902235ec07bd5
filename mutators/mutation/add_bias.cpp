#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator add_bias{
    .id = "add_bias",
    .abbreviation = "WAB",
    .group = OperatorGroup::kWeights,
    .by_layer = true,
    .fault_type = "WAB",
    .description = "Gives a layer without a bias one.",
    .source = kDeepCrime,
    .field = "use_bias",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (!has_setting(target, site, "use_bias")) {
        return layer_text(target, site, "can have no bias");
      }
      if (setting_at(target, site, "use_bias") != true) return "";
      return layer_text(target, site, "has a bias");
    },
    .edit = set_field_true};

}  // namespace neutra::mutators::mutation
