#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator new_name{
    .id = "new_name",
    .abbreviation = "NEWABBR",
    .group = OperatorGroup::kLayers,
    .fault_type = "-",
    .description = "What it does, in one sentence.",
    .source = "Where the rule is from.",
    .refusal = [](const Target&, Site) -> std::string { return "a skeleton of an operator"; },
    .edit = [](const MutationOperator&, Json&, const Target&, Site, const Json&, std::uint64_t) {}};

}  // namespace neutra::mutators::mutation
