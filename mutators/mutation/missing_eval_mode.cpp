#include <algorithm>

#include "mutators/mutation_operator.h"
#include "program/edit.h"
#include "program/layer.h"

namespace neutra::mutators::mutation {

extern const MutationOperator missing_eval_mode{
    .id = "missing_eval_mode",
    .abbreviation = "GME",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "GME",
    .description = "Evaluates in training mode: with dropout, noise and batch statistics.",
    .source = kSilentBugs,
    .refusal = [](const Target& target, Site) -> std::string {
      if (!target.resolved.loop.eval_mode) return "a loop that evaluates in training mode";
      const std::vector<program::ResolvedLayer>& layers = target.resolved.layers;
      return std::any_of(layers.begin(), layers.end(), program::has_training_mode)
                 ? ""
                 : "no layer that does something else in training";
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
               std::uint64_t) { program::set_loop_field(document, "eval_mode", false); }};

}  // namespace neutra::mutators::mutation
