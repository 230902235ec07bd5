#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {

extern const MutationOperator zero_sample_weights{
    .id = "zero_sample_weights",
    .abbreviation = "TZW",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TZW",
    .description =
        "Gives all training rows the weight 0, so that their weighted mean loss is 0 / 0.",
    .source =
        "Jahan, Shah and Rahman, Towards Understanding the Challenges of Bug Localization in "
        "Deep Learning Systems, 2025, Table 21, bug 18",
    .refusal = [](const Target& target, Site) -> std::string {
      const std::string& loss = target.resolved.loss;
      return loss == "sparse_categorical_crossentropy" ? "the loss " + loss : "";
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
           std::uint64_t) {
          add_data_step(document, {{"op", "zero_sample_weights"}});
        }};

}  // namespace neutra::mutators::mutation
