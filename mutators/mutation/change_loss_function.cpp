#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_loss_function{
    .id = "change_loss_function",
    .abbreviation = "LCH",
    .group = OperatorGroup::kLoss,
    .fault_type = "LCH",
    .description = "Replaces the loss function.",
    .source = kDeepCrime,
    .parameter = {.name = "loss",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of losses"},
    .values = [](const Target&, Site) { return operator_values("loss"); },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
               std::uint64_t) { program::set_section_field(document, "compile", "loss", value); }};

}  // namespace neutra::mutators::mutation
