#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator detached_layer{
    .id = "detached_layer",
    .abbreviation = "GDT",
    .group = OperatorGroup::kTrainingLoop,
    .by_layer = true,
    .fault_type = "GDT",
    .description = "Cuts the output of a layer off from the graph, so that no gradient goes back.",
    .source = kSilentBugs,
    .refusal = [](const Target& target, Site site) -> std::string {
      if (target.resolved.loop.detached) return "a graph that is cut already";
      // Where a layer without variables is cut off, so is the one before it.
      if (const std::string refusal = refuse_untrained_layer(target, site); !refusal.empty()) {
        return refusal;
      }
      const auto end = static_cast<Site>(target.resolved.layers.size());
      for (Site behind = site + 1; behind < end; ++behind) {
        if (is_trained(target, behind)) return "";
      }
      return layer_text(target, site, "is the last one that is trained");
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site site, const Json&,
               std::uint64_t) { program::set_loop_field(document, "detached", site); }};

}  // namespace neutra::mutators::mutation
