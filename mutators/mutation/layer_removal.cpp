#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator layer_removal{
    .id = "layer_removal",
    .abbreviation = "LR",
    .group = OperatorGroup::kLayers,
    .by_layer = true,
    .fault_type = "LRM",
    .description =
        "Removes a Dense or BatchNormalization layer whose output has the shape of its input.",
    .source = kDeepMutation,
    .refusal = [](const Target& target, Site site) -> std::string {
      const program::ResolvedLayer& layer = layer_at(target, site);
      if (layer.class_name != "Dense" && layer.class_name != "BatchNormalization") {
        return layer_text(target, site, "is neither Dense nor BatchNormalization");
      }
      if (site == 0) return layer_text(target, site, "is the first layer");
      if (site + 1 == static_cast<Site>(target.resolved.layers.size())) {
        return layer_text(target, site, "is the output layer");
      }
      if (layer.output_shape.empty()) return layer_text(target, site, "has an unknown shape");
      if (layer.output_shape == layer.input_shape) return "";
      return layer_text(target, site,
                        "makes " + program::to_string(layer.output_shape) + " of " +
                            program::to_string(layer.input_shape));
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site site, const Json&,
           std::uint64_t) { program::repeat_layer(document, static_cast<std::size_t>(site), 0); }};

}  // namespace neutra::mutators::mutation
