#include "mutators/mutation_operator.h"
#include "program/edit.h"
#include "program/optimizer_rules.h"
#include "program/vocabulary.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_optimisation_function{
    .id = "change_optimisation_function",
    .abbreviation = "OCH",
    .group = OperatorGroup::kOptimisation,
    .fault_type = "OCH",
    .description = "Replaces the optimiser by another with its default settings.",
    .source = kDeepCrime,
    .parameter = {.name = "optimizer",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "DeepCrime's list of optimisers"},
    .values =
        [](const Target& target, Site) {
          // The same optimiser with other settings would be no replacement.
          std::vector<Json> values;
          for (const Json& word : operator_values("optimizer")) {
            const program::Entry* entry =
                program::find(program::Vocabulary::kOptimizer, word.get<std::string>());
            if (entry->name != target.resolved.optimizer.at("class_name")) values.push_back(word);
          }
          return values;
        },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
           std::uint64_t) {
          const program::Entry* entry =
              program::find(program::Vocabulary::kOptimizer, value.get<std::string>());
          program::replace_optimizer(program::optimizer_of(document),
                                     entry != nullptr ? Json(entry->name) : value);
        }};

}  // namespace neutra::mutators::mutation
