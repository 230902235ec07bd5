#include "mutators/mutation_operator.h"

namespace neutra::mutation {

extern const MutationOperator gaussian_fuzz{
    .id = "gaussian_fuzz",
    .abbreviation = "GF",
    .group = OperatorGroup::kTrainedModel,
    .fault_type = "GF",
    .description =
        "Adds normal noise of deviation 0.1 to a share of the weights of the trained model.",
    .source = kDeepMutation,
    .parameter = kPercentage,
    .random = true,
    .refusal = [](const Target& target, Site) { return refuse_without_kernel(target); },
    .range = [](const Target&) { return percentages(100); },
    .edit =
        [](Json& document, const Target&, Site, const Json& value, std::uint64_t seed) {
          add_trained_mutation(document, "gaussian_fuzz", {{"percentage", value}, {"seed", seed}});
        }};

}  // namespace neutra::mutation
