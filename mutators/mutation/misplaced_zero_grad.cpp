#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator misplaced_zero_grad{
    .id = "misplaced_zero_grad",
    .abbreviation = "GBZ",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "GBZ",
    .description = "Zeroes gradients between the backward pass and the update.",
    .source = kSilentBugs,
    .refusal = [](const Target& target, Site site) -> std::string {
      if (target.resolved.loop.zero_grad != program::LoopStyle::ZeroGrad::kEachStep) {
        return "a loop that doesn't zero gradients at each step";
      }
      return refuse_untrained(target, site);
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
               std::uint64_t) { program::set_loop_field(document, "zero_grad", "before_step"); }};

}  // namespace neutra::mutators::mutation
