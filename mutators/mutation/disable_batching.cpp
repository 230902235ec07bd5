#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator disable_batching{
    .id = "disable_batching",
    .abbreviation = "HDB",
    .group = OperatorGroup::kHyperparameters,
    .fault_type = "HBS",
    .description = "Trains on all rows in one batch.",
    .source = kDeepCrime,
    .refusal = [](const Target& target, Site) -> std::string {
      if (!target.data || target.data->training_rows < 1) {
        return "an unknown number of training rows: the data are not at hand";
      }
      const bool one =
          target.resolved.batch_size >= target.data->training_rows || steps_per_epoch(target) == 1;
      return one ? "one batch of all rows" : "";
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target& target, Site, const Json&,
           std::uint64_t) {
          program::set_section_field(document, "fit", "batch_size", target.data->training_rows);
        }};

}  // namespace neutra::mutators::mutation
