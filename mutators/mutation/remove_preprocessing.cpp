#include "mutators/mutation_operator.h"

#include <algorithm>

namespace neutra::mutation {
namespace {

/// Positions of the steps that only change numbers: without them the program still trains.
std::vector<Json> scaling_steps(const Target& target) {
  constexpr std::string_view kScaling[] = {"scale", "add", "standardize", "normalize"};
  const Json* steps = member(target.resolved.data, "preprocess");
  std::vector<Json> found;
  for (std::size_t i = 0; steps != nullptr && i < steps->size(); ++i) {
    const Json* op = member((*steps)[i], "op");
    if (op != nullptr && op->is_string() &&
        std::find(std::begin(kScaling), std::end(kScaling), op->get<std::string>()) !=
            std::end(kScaling)) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace

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
             "the positions in data.preprocess of the steps scale, add, standardize and normalize"},
    .refusal = [](const Target& target, Site) -> std::string {
      return scaling_steps(target).empty() ? "no step that scales the data" : "";
    },
    .values = [](const Target& target, Site) { return scaling_steps(target); },
    .edit =
        [](Json& document, const Target& target, Site, const Json& value, std::uint64_t) {
          const std::vector<Json> steps = scaling_steps(target);
          if (std::find(steps.begin(), steps.end(), value) == steps.end()) return;
          document["data"]["preprocess"].erase(value.get<std::size_t>());
        }};

}  // namespace neutra::mutation
