#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator disable_shuffle{
    .id = "disable_shuffle",
    .abbreviation = "HSF",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "HSF",
    .description = "Visits the training rows in the same order in every epoch.",
    .source = "PyTorch documentation, torch.utils.data.DataLoader: shuffle is False by default",
    .refusal = [](const Target& target, Site) -> std::string {
      if (!target.resolved.shuffle) return "rows that are not shuffled";
      return steps_per_epoch(target) == 1 ? "one batch of all rows" : "";
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
               std::uint64_t) { program::set_section_field(document, "fit", "shuffle", false); }};

}  // namespace neutra::mutators::mutation
