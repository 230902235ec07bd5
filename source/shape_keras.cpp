// The arithmetic of Keras's layers: they take their input sizes from what flows in.

#include <algorithm>

#include "source/shape_math.h"

namespace neutra::source {

Thing ShapeMath::apply_keras(const ShapeCall& call, const Shape& input) {
  const ShapeEntry& entry = *call.entry;
  if (entry.op == ShapeOp::kSame) return tensor_thing(input);
  if (!input.ranked) return {};
  const auto rank = static_cast<std::size_t>(entry.rank);
  if (rank > 0 && !has_rank(call, input, rank, rank)) return {};
  if (entry.least_rank > 0 &&
      !has_rank(call, input, static_cast<std::size_t>(entry.least_rank), 100))
    return {};
  Shape shape = input;
  Dim units = size(call, entry.op == ShapeOp::kKerasConvTranspose ? "filters" : "units");
  if (units.known() && units.from == kNoNode) units.from = call.maker;
  switch (entry.op) {
    case ShapeOp::kKerasDense:
      shape.dims.back() = units;
      return tensor_thing(std::move(shape));
    case ShapeOp::kConv:
    case ShapeOp::kPool:
      return window(call, std::move(shape));
    case ShapeOp::kFlatten:
      return flatten(call, shape);
    case ShapeOp::kKerasUpsample:
      return upsample(call, std::move(shape));
    case ShapeOp::kKerasRecurrent:
      return keras_recurrent(call, shape);
    case ShapeOp::kKerasEmbedding:
      return embedding(call, std::move(shape));
    case ShapeOp::kKerasReshape:
      return keras_reshape(call, shape);
    case ShapeOp::kKerasGlobalPool: {
      const std::optional<bool> keeps = flag(call, "keepdims");
      if (!keeps || *keeps || call.settings->contains("data_format")) return {};
      shape.dims = {input.dims.front(), input.dims.back()};
      shape.from = call.call;
      return tensor_thing(std::move(shape));
    }
    case ShapeOp::kKerasRepeat:
      shape.dims.insert(shape.dims.begin() + 1, size(call, "n"));
      shape.from = call.call;
      return tensor_thing(std::move(shape));
    case ShapeOp::kKerasConvTranspose: {
      if (call.settings->contains("data_format")) return {};
      const Thing padding = setting(call, "padding");
      const Dims strides = sizes(call, "strides", entry.spatial);
      for (std::size_t i = 1; i + 1 < shape.dims.size(); ++i) {
        Dim& dim = shape.dims[i];
        const Dim stride = strides[i - 1];
        dim = dim.known() && stride.known() && padding.text == "same" &&
                      setting(call, "output_padding").is(ThingKind::kNone)
                  ? Dim{dim.size * stride.size, call.call}
                  : Dim{};
      }
      shape.dims.back() = units;
      return tensor_thing(std::move(shape));
    }
    default:
      return {};
  }
}

Thing ShapeMath::keras_recurrent(const ShapeCall& call, const Shape& shape) {
  const std::optional<bool> sequences = flag(call, "return_sequences");
  const std::optional<bool> state = flag(call, "return_state");
  if (!sequences || !state || *state) return {};
  Shape result = shape;
  result.from = call.maker;
  result.dims.back() = size(call, "units");
  if (result.dims.back().known() && result.dims.back().from == kNoNode)
    result.dims.back().from = call.maker;
  if (!*sequences) result.dims.erase(result.dims.begin() + 1);
  return tensor_thing(std::move(result));
}

Thing ShapeMath::keras_reshape(const ShapeCall& call, const Shape& shape) {
  const Thing target = setting(call, "target_shape");
  if (!target.is(ThingKind::kList) || target.object->opaque || shape.dims.empty()) return {};
  Thing batch;
  batch.kind = ThingKind::kNumber;
  batch.number = shape.dims[0];
  std::vector<Thing> sizes{batch};
  sizes.insert(sizes.end(), target.object->items.begin(), target.object->items.end());
  return reshape(call, shape, sizes);
}

/// Add, Multiply, ...: the axes behind the batch must agree.
Thing ShapeMath::keras_merge(const ShapeCall& call, const std::vector<Thing>& parts) {
  if (parts.empty()) return {};
  Thing result = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!result.is(ThingKind::kTensor) || !parts[i].is(ThingKind::kTensor)) return {};
    result = broadcast(result, parts[i], call.call);
  }
  return result;
}

}  // namespace neutra::source
