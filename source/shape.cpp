#include "source/shape.h"

#include <algorithm>

namespace neutra::source {
namespace {

bool same_shape(const Shape& one, const Shape& other) {
  if (one.ranked != other.ranked || one.dims.size() != other.dims.size()) return false;
  for (std::size_t i = 0; i < one.dims.size(); ++i)
    if (!one.dims[i].same_as(other.dims[i])) return false;
  return true;
}

Dim joined_dim(const Dim& one, const Dim& other) { return one.same_as(other) ? one : Dim{}; }

Shape joined_shape(const Shape& one, const Shape& other) {
  Shape result;
  result.ranked = one.ranked && other.ranked && one.dims.size() == other.dims.size();
  result.sure = result.ranked && one.sure && other.sure;
  result.from = one.from;
  const std::size_t size = std::min(one.dims.size(), other.dims.size());
  for (std::size_t i = 0; i < size; ++i)
    result.dims.push_back(
        joined_dim(one.dims[one.dims.size() - size + i], other.dims[other.dims.size() - size + i]));
  return result;
}

}  // namespace

Thing unknown_thing() { return {}; }

Thing number_thing(std::int64_t number, NodeId from) {
  Thing thing;
  thing.kind = ThingKind::kNumber;
  thing.number = {number, from};
  return thing;
}

Thing tensor_thing(Shape shape) {
  Thing thing;
  thing.kind = ThingKind::kTensor;
  thing.shape = std::make_shared<const Shape>(std::move(shape));
  return thing;
}

bool same_thing(const Thing& one, const Thing& other) {
  if (one.kind != other.kind) return false;
  switch (one.kind) {
    case ThingKind::kUnknown:
    case ThingKind::kNone:
      return true;
    case ThingKind::kNumber:
      return one.number.same_as(other.number);
    case ThingKind::kText:
      return one.text == other.text;
    case ThingKind::kTensor:
    case ThingKind::kSizes:
      return one.shape == other.shape || same_shape(*one.shape, *other.shape);
    default:
      return one.object == other.object && one.node == other.node;
  }
}

Thing joined(const Thing& one, const Thing& other) {
  if (same_thing(one, other)) return one;
  if (one.is(ThingKind::kTensor) && other.is(ThingKind::kTensor))
    return tensor_thing(joined_shape(*one.shape, *other.shape));
  return {};
}

}  // namespace neutra::source
