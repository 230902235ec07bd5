#include "mutators/mutation_operator.h"
#include "program/edit.h"
#include "program/layer.h"

namespace neutra::mutators::mutation {

extern const MutationOperator duplicate_layer{
    .id = "duplicate_layer",
    .abbreviation = "LAD",
    .group = OperatorGroup::kLayers,
    .by_layer = true,
    .fault_type = "LAD|ACH",
    .description = "Puts a copy of a layer behind it.",
    .source = kFaultStudy,
    .refusal = [](const Target& target, Site site) -> std::string {
      if (program::kind_of(layer_at(target, site)) == program::LayerKind::kInput) {
        return layer_text(target, site, "declares the input");
      }
      if (program::kind_of(layer_at(target, site)) == program::LayerKind::kMerge) {
        return layer_text(target, site, "takes several inputs");
      }
      return "";
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site site, const Json&,
           std::uint64_t) { program::repeat_layer(document, static_cast<std::size_t>(site), 2); }};

}  // namespace neutra::mutators::mutation
