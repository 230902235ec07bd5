#include "mutators/mutation_operator.h"
#include "program/layer.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_dropout_rate{
    .id = "change_dropout_rate",
    .abbreviation = "RCD",
    .group = OperatorGroup::kRegularisation,
    .by_layer = true,
    .fault_type = "RCD",
    .description = "Replaces the rate of a Dropout, SpatialDropout or GaussianDropout layer.",
    .source = kDeepCrime,
    .parameter = {.name = "rate",
                  .type = ValueType::kNumber,
                  .search = ValueSearch::kExhaustive,
                  .values = "0.125, 0.25, 0.75, 1"},
    .field = "rate",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (program::kind_of(layer_at(target, site)) == program::LayerKind::kDropout) return "";
      return layer_text(target, site, "is no Dropout layer");
    },
    .values = [](const Target&, Site) { return operator_values("dropout_rate"); },
    .edit = set_field};

}  // namespace neutra::mutators::mutation
