#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator missing_zero_grad{
    .id = "missing_zero_grad",
    .abbreviation = "GMZ",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "GMZ",
    .description = "Lets gradients add up over the epoch or the whole training.",
    .source = kSilentBugs,
    .parameter = {.name = "zeroed",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "never, each_epoch"},
    .refusal = [](const Target& target, Site site) -> std::string {
      if (target.resolved.loop.zero_grad != program::LoopStyle::ZeroGrad::kEachStep) {
        return "a loop that doesn't zero gradients at each step";
      }
      if (steps_per_epoch(target) == 1 && target.resolved.epochs == 1) return "a single step";
      return refuse_untrained(target, site);
    },
    .values = [](const Target&, Site) { return operator_values("zero_grad"); },
    .edit =
        [](const MutationOperator&, Json& document, const Target& target, Site, const Json& value,
           std::uint64_t) {
          // In an epoch of one step nothing adds up.
          if (value == "each_epoch" && steps_per_epoch(target) == 1) return;
          program::set_loop_field(document, "zero_grad", value);
        }};

}  // namespace neutra::mutators::mutation
