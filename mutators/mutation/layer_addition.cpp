#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator layer_addition{
    .id = "layer_addition",
    .abbreviation = "LAs",
    .group = OperatorGroup::kLayers,
    .by_layer = true,
    .fault_type = "LAD",
    .description = "Adds a ReLU or BatchNormalization layer behind a layer that is not the last.",
    .source = kDeepMutation,
    .parameter = {.name = "layer",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "ReLU, BatchNormalization"},
    .refusal = [](const Target& target, Site site) -> std::string {
      if (site + 1 < static_cast<Site>(target.resolved.layers.size())) return "";
      return layer_text(target, site, "is the last one");
    },
    .values = [](const Target&, Site) { return operator_values("added_layer"); },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site site, const Json& value,
           std::uint64_t) {
          program::insert_layer(document, static_cast<std::size_t>(site) + 1,
                                {{"class_name", value}, {"config", Json::object()}});
        }};

}  // namespace neutra::mutators::mutation
