#include "training/fused/plan.h"

/// Layers that only rename features.
namespace neutra::fused {

void layers::input_layer(Builder&, const ResolvedLayer&) {}

void layers::flatten(Builder& builder, const ResolvedLayer& layer) {
  rename(builder, layer.output_shape);
}

}  // namespace neutra::fused
