#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator missing_step{
    .id = "missing_step",
    .abbreviation = "GMS",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "GMS",
    .description = "Leaves out the update.",
    .source = kSilentBugs,
    .refusal = refuse_untrained,
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
               std::uint64_t) { program::set_loop_field(document, "step", false); }};

}  // namespace neutra::mutators::mutation
