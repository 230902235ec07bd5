#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_batch_size{
    .id = "change_batch_size",
    .abbreviation = "HBS",
    .group = OperatorGroup::kHyperparameters,
    .fault_type = "HBS",
    .description = "Replaces the batch size.",
    .source = kDeepCrime,
    .parameter = {.name = "batch_size",
                  .type = ValueType::kInteger,
                  .search = ValueSearch::kExhaustive,
                  .values = "a quarter, half, double and four times the batch size of the program"},
    .values =
        [](const Target& target, Site) {
          // DeepCrime's lists for its subjects are these, for batches of 64 and 128.
          const std::int64_t size = target.resolved.batch_size;
          std::vector<Json> values;
          for (const std::int64_t next : {size / 4, size / 2, size * 2, size * 4}) {
            if (next >= 1 && next != size && (values.empty() || values.back() != next)) {
              values.push_back(next);
            }
          }
          return values;
        },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
           std::uint64_t) { program::set_section_field(document, "fit", "batch_size", value); }};

}  // namespace neutra::mutators::mutation
