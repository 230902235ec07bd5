#include "training/fused/builder.h"
#include "training/fused/layers/registry.h"

/// Layers that only rename features.
namespace neutra::training::fused {

void layers::input_layer(Builder&, const program::ResolvedLayer&) {}

void layers::flatten(Builder& builder, const program::ResolvedLayer& layer) {
  rename(builder, layer.output_shape);
}

}  // namespace neutra::training::fused
