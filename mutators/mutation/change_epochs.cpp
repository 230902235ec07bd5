#include "mutators/mutation_operator.h"

#include <algorithm>
#include <cmath>

#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_epochs{
    .id = "change_epochs",
    .abbreviation = "HNE",
    .group = OperatorGroup::kHyperparameters,
    .fault_type = "HNE",
    .description = "Replaces the number of epochs by a smaller one.",
    .source = kDeepCrime,
    .parameter = {.name = "epochs",
                  .type = ValueType::kInteger,
                  .search = ValueSearch::kBinary,
                  .values = "from the epochs of the program to 1"},
    .refusal = [](const Target& target, Site) -> std::string {
      return target.resolved.epochs > 1 ? "" : "one epoch";
    },
    .range = [](const Target& target) -> ValueRange {
      const auto epochs = static_cast<double>(target.resolved.epochs);
      return {epochs, 1, std::max(1.0, std::floor(epochs / 10)), 0};
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
               std::uint64_t) { program::set_section_field(document, "fit", "epochs", value); }};

}  // namespace neutra::mutators::mutation
