#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator sigmoid_on_regression_output{
    .id = "sigmoid_on_regression_output",
    .abbreviation = "ASR",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "ACH",
    .description = "Gives the linear output of a regression a sigmoid.",
    .source = kSilentBugs,
    .refusal = [](const Target& target, Site) -> std::string {
      if (target.resolved.task != "regression") return "a " + target.resolved.task;
      return refuse_not_linear(target, static_cast<Site>(target.resolved.layers.size()) - 1);
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target& target, Site, const Json&,
           std::uint64_t) {
          program::set_layer_field(document, target.resolved.layers.size() - 1, "activation",
                                   "sigmoid");
        }};

}  // namespace neutra::mutators::mutation
