#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {
namespace {

/// The bounds that the optimiser has.
std::vector<std::string_view> clips(const Target& target) {
  std::vector<std::string_view> found;
  for (const std::string_view clip : {"clipnorm", "clipvalue"}) {
    const Json* bound = member(target.resolved.optimizer.at("config"), clip);
    if (bound != nullptr && !bound->is_null()) found.push_back(clip);
  }
  return found;
}

}  // namespace

extern const MutationOperator change_gradient_clip{
    .id = "change_gradient_clip",
    .abbreviation = "OCG",
    .group = OperatorGroup::kOptimisation,
    .fault_type = "OCG",
    .description = "Replaces the bound of gradient clipping.",
    .source = kDeepCrime,
    .parameter = {.name = "clip", .type = ValueType::kNumber, .values = "0.5"},
    .refusal = [](const Target& target, Site) -> std::string {
      return clips(target).empty() ? "an optimiser that clips no gradients" : "";
    },
    .values = [](const Target&, Site) { return operator_values("clip"); },
    .edit =
        [](const MutationOperator&, Json& document, const Target& target, Site, const Json& value,
           std::uint64_t) {
          for (const std::string_view clip : clips(target)) {
            program::set_optimizer_field(document, clip, value);
          }
        }};

}  // namespace neutra::mutators::mutation
