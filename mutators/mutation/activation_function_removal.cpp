#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator activation_function_removal{
    .id = "activation_function_removal",
    .abbreviation = "AFRs",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Makes the activation of a layer linear, the output layer excepted.",
    .source = kDeepMutation,
    .field = "activation",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (site + 1 == static_cast<Site>(target.resolved.layers.size())) {
        return layer_text(target, site, "is the output layer");
      }
      return refuse_linear(target, site);
    },
    .edit = make_linear};

}  // namespace neutra::mutators::mutation
