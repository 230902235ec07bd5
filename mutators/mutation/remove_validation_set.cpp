#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator remove_validation_set{
    .id = "remove_validation_set",
    .abbreviation = "VRM",
    .group = OperatorGroup::kValidation,
    .fault_type = "VRM",
    .description = "Takes away the rows that are watched while the program trains.",
    .source = kDeepCrime,
    .refusal = [](const Target& target, Site) -> std::string {
      const Json* rows = member(target.resolved.data, "validation");
      const bool watched =
          target.resolved.validation_split > 0 || (rows != nullptr && !rows->is_null());
      return watched ? "" : "no validation rows";
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
           std::uint64_t) {
          if (document.contains("fit")) document["fit"].erase("validation_split");
          document["data"].erase("validation");
        }};

}  // namespace neutra::mutators::mutation
