#include "mutators/mutation_operator.h"
#include "program/rate_schedule.h"

namespace neutra::mutators::mutation {

extern const MutationOperator scheduler_per_batch{
    .id = "scheduler_per_batch",
    .abbreviation = "HRS",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "HRS",
    .description = "Decays the learning rate after every batch instead of every epoch.",
    .source = "PyTorch documentation, torch.optim: how to adjust the learning rate",
    .refusal = [](const Target& target, Site site) -> std::string {
      const auto schedule = program::schedule_of(target.resolved);
      if (!schedule) return "no learning rate schedule";
      if (schedule->every_batch) return "a schedule for every batch";
      if (schedule->is_constant()) return "a schedule that leaves the rate as it is";
      if (steps_per_epoch(target) == 1) return "epochs of one step";
      return refuse_untrained(target, site);
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
               std::uint64_t) { document["fit"]["schedule"]["every"] = "batch"; }};

}  // namespace neutra::mutators::mutation
