#include "training/fused/plan.h"

/// Layers that only rename features.
namespace neutra::fused {

void layers::input_layer(Builder&, const ResolvedLayer&) {}

void layers::flatten(Builder& builder, const ResolvedLayer& layer) {
  Tensor tensor = builder.current();
  tensor.shape = layer.output_shape;
  builder.set_current(std::move(tensor));
}

}  // namespace neutra::fused
