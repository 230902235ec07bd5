#include "program/layers/fields.h"

namespace neutra::program::layer {

const Layer& new_name() {
  static const Layer layer{.class_name = "NewName",
                           .kind = LayerKind::kReshape,
                           .aliases = {},
                           .fields = {},
                           .output_shape = same_shape,
                           .masks_output = keep_mask};
  return layer;
}

}  // namespace neutra::program::layer
