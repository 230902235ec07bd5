#include "mutators/mutation_operator.h"
#include "program/edit.h"
#include "program/layer.h"

namespace neutra::mutators::mutation {

extern const MutationOperator softmax_before_cross_entropy{
    .id = "softmax_before_cross_entropy",
    .abbreviation = "ADS",
    .group = OperatorGroup::kTrainingLoop,
    .fault_type = "ACH",
    .description = "Puts a second softmax before a cross entropy that has one of its own.",
    .source = kSilentBugs,
    .refusal = [](const Target& target, Site) -> std::string {
      const std::string& loss = target.resolved.loss;
      if (loss != "categorical_crossentropy" && loss != "sparse_categorical_crossentropy") {
        return "the loss " + loss;
      }
      auto site = static_cast<Site>(target.resolved.layers.size()) - 1;
      while (site > 0 && program::is_identity(layer_at(target, site))) --site;
      const bool softmax = program::last_activation(layer_at(target, site)) == "softmax";
      return softmax ? "" : layer_text(target, site, "makes no softmax");
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json&,
           std::uint64_t) {
          program::insert_layer(
              document, program::layers_of(document).size(),
              {{"class_name", "Activation"}, {"config", {{"activation", "softmax"}}}});
        }};

}  // namespace neutra::mutators::mutation
