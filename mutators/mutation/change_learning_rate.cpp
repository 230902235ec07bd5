#include "mutators/mutation_operator.h"

#include <algorithm>
#include <cmath>

#include "mutators/neutrality_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {
namespace {

double learning_rate(const Target& target) {
  return target.resolved.optimizer.at("config").at("learning_rate");
}

}  // namespace

extern const MutationOperator change_learning_rate{
    .id = "change_learning_rate",
    .abbreviation = "HLR",
    .group = OperatorGroup::kHyperparameters,
    .fault_type = "HLR",
    .description = "Replaces the learning rate by a smaller one.",
    .source = kDeepCrime,
    .parameter = {.name = "learning_rate",
                  .type = ValueType::kNumber,
                  .search = ValueSearch::kBinary,
                  .values = "from the learning rate of the program to a tenth of it"},
    .refusal = [](const Target& target, Site) -> std::string {
      return learning_rate(target) > 0 ? "" : "the learning rate 0";
    },
    .range = [](const Target& target) -> ValueRange {
      const double rate = learning_rate(target);
      const double precision = decimal_clean(rate / 100);
      const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(precision))));
      return {rate, decimal_clean(rate / 10), precision, decimals};
    },
    .edit = [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
               std::uint64_t) { program::set_optimizer_field(document, "learning_rate", value); }};

}  // namespace neutra::mutators::mutation
