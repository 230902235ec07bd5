#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutation {

extern const MutationOperator add_activation_function{
    .id = "add_activation_function",
    .abbreviation = "AAL",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Gives a linear layer an activation function.",
    .source = kDeepCrime,
    .parameter = {.name = "activation",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of activations without linear"},
    .refusal = [](const Target& target, Site site) -> std::string {
      if (!has_setting(target, site, "activation")) {
        return layer_text(target, site, "has no activation");
      }
      const Json activation = setting_at(target, site, "activation");
      if (activation == "linear") return "";
      return layer_text(target, site, "has the activation " + activation.get<std::string>());
    },
    .values = [](const Target&, Site) { return operator_values("activation"); },
    .edit =
        [](Json& document, const Target&, Site site, const Json& value, std::uint64_t) {
          set_layer_field(document, static_cast<std::size_t>(site), "activation", value);
        }};

}  // namespace neutra::mutation
