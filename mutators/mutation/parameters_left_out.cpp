#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator parameters_left_out{
    .id = "parameters_left_out",
    .abbreviation = "GLO",
    .group = OperatorGroup::kTrainingLoop,
    .by_layer = true,
    .fault_type = "GLO",
    .description = "Does not give the variables of a layer to the optimiser.",
    .source = kSilentBugs,
    .refusal = refuse_untrained_layer,
    .edit = [](const MutationOperator&, Json& document, const Target& target, Site site,
               const Json&, std::uint64_t) {
      Json layers = target.resolved.loop.left_out;
      layers.push_back(site);
      program::set_loop_field(document, "left_out", std::move(layers));
    }};

}  // namespace neutra::mutators::mutation
