#include "mutators/mutation_operator.h"

#include <algorithm>

namespace neutra::mutators::mutation {
namespace {

/// Those for both parts behind which no step changes the numbers of the same table: test rows stay
/// as they are, wherever the step runs.
std::vector<Json> last_scaling_steps(const Target& target) {
  std::vector<Json> positions = scaling_steps(target);
  const Json* steps = member(target.resolved.data, "preprocess");
  const auto word = [&](std::size_t i, const char* field, const char* fallback) {
    const Json* value = member((*steps)[i], field);
    return value != nullptr && value->is_string() ? value->get<std::string>() : fallback;
  };
  std::erase_if(positions, [&](const Json& position) {
    const auto at = position.get<std::size_t>();
    if (word(at, "part", "both") != "both") return true;
    for (std::size_t i = at + 1; i < steps->size(); ++i) {
      const std::string op = word(i, "op", "");
      const bool moves = op == "flatten" || op == "reshape" || op == "shuffle" || op == "take";
      if (!moves && word(i, "on", "x") == word(at, "on", "x")) return true;
    }
    return false;
  });
  return positions;
}

}  // namespace

extern const MutationOperator skew_preprocessing{
    .id = "skew_preprocessing",
    .abbreviation = "SPP",
    .group = OperatorGroup::kPreprocessing,
    .fault_type = "CPP",
    .description = "Leaves out a step that scales the data for the training rows alone.",
    .source = kRealFaults,
    .parameter = {.name = "step",
                  .type = ValueType::kInteger,
                  .search = ValueSearch::kExhaustive,
                  .values = "the positions in data.preprocess of the last steps that scale x and y",
                  .closed = true},
    .refusal = [](const Target& target, Site) -> std::string {
      return last_scaling_steps(target).empty()
                 ? "no step that scales the data and is the last to change it"
                 : "";
    },
    .values = [](const Target& target, Site) { return last_scaling_steps(target); },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
           std::uint64_t) {
          document["data"]["preprocess"][value.get<std::size_t>()]["part"] = "test";
        }};

}  // namespace neutra::mutators::mutation
