#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator remove_preprocessing{
    .id = "remove_preprocessing",
    .abbreviation = "CPP",
    .group = OperatorGroup::kPreprocessing,
    .fault_type = "CPP",
    .description = "Leaves out a step that scales the data.",
    .source = kFaultStudy,
    .parameter =
        {.name = "step",
         .type = ValueType::kInteger,
         .search = ValueSearch::kExhaustive,
         .values =
             "the positions in data.preprocess of the steps scale, add, standardize and normalize",
         .closed = true},
    .refusal = [](const Target& target, Site) -> std::string {
      return scaling_steps(target).empty() ? "no step that scales the data" : "";
    },
    .values = [](const Target& target, Site) { return scaling_steps(target); },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
               std::uint64_t) { document["data"]["preprocess"].erase(value.get<std::size_t>()); }};

}  // namespace neutra::mutators::mutation
