#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutation {

extern const MutationOperator change_activation_function{
    .id = "change_activation_function",
    .abbreviation = "ACH",
    .group = OperatorGroup::kActivation,
    .by_layer = true,
    .fault_type = "ACH",
    .description = "Replaces the activation function of a layer.",
    .source = kDeepCrime,
    .parameter = {.name = "activation",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of activations"},
    .refusal = [](const Target& target, Site site) -> std::string {
      if (has_setting(target, site, "activation")) return "";
      return layer_text(target, site, "has no activation");
    },
    .values = [](const Target&, Site) { return operator_values("activation"); },
    .edit =
        [](Json& document, const Target&, Site site, const Json& value, std::uint64_t) {
          set_layer_field(document, static_cast<std::size_t>(site), "activation", value);
        }};

}  // namespace neutra::mutation
