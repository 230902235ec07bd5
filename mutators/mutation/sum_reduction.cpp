#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator sum_reduction{
    .id = "sum_reduction",
    .abbreviation = "GSR",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "GSR",
    .description = "Sums the loss over the rows of a batch instead of taking their mean.",
    .source = "PyTorch documentation, losses of torch.nn: reduction",
    .refusal = [](const Target& target, Site site) -> std::string {
      if (target.resolved.loop.sum) return "a loss that is summed";
      if (target.resolved.batch_size == 1) return "batches of one row";
      return refuse_untrained(target, site);
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
               std::uint64_t) { program::set_loop_field(document, "reduction", "sum"); }};

}  // namespace neutra::mutators::mutation
