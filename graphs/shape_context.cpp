#include "graphs/shape_context.h"

#include <algorithm>

namespace neutra::graphs {

const TensorShape& ShapeContext::input(std::size_t place) const {
  static const TensorShape unknown;
  if (place >= inputs()) return unknown;
  const Endpoint from = node().inputs[place];
  const std::vector<TensorShape>& outputs = state_[from.node];
  return from.output < outputs.size() ? outputs[from.output] : unknown;
}

const std::optional<std::vector<Dim>>& ShapeContext::value(std::size_t place) const {
  return input(place).value;
}

std::optional<std::vector<std::int64_t>> ShapeContext::wholes(std::size_t place) const {
  const auto& dims = value(place);
  if (!dims) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Dim& dim : *dims) {
    if (!dim.known()) return std::nullopt;
    numbers.push_back(dim.constant);
  }
  return numbers;
}

std::optional<std::int64_t> ShapeContext::whole(std::size_t place) const {
  const auto numbers = wholes(place);
  if (!numbers || numbers->size() != 1) return std::nullopt;
  return numbers->front();
}

void ShapeContext::out(Shape shape, std::optional<std::vector<Dim>> value) {
  state_[number_].push_back({std::move(shape), std::move(value)});
}

ShapeEnd ShapeContext::end(std::size_t place, const std::string& size) const {
  return {node().inputs[place], symbols_.text(in(place)), size};
}

ShapeEnd ShapeContext::end(std::size_t place, std::size_t axis) const {
  return end(place, symbols_.text((*in(place))[axis]) + " in dimension " + std::to_string(axis));
}

void ShapeContext::fail(const std::string& expected, std::vector<ShapeEnd> ends,
                        std::vector<std::int64_t> sizes) {
  mismatches_.push_back({number_, expected, std::move(ends), std::nullopt, std::move(sizes)});
}

Dim ShapeContext::same(std::size_t place, std::size_t axis, std::size_t other,
                       std::size_t other_axis, const std::string& expected) {
  const Dim a = (*in(place))[axis], b = (*in(other))[other_axis];
  if (!a.known()) return b.known() ? b : a;
  if (!b.known() || a == b) return a;
  fail(expected, {end(place, axis), end(other, other_axis)}, {a.constant, b.constant});
  return symbols_.fresh();
}

Shape ShapeContext::same_shape(std::size_t place, std::size_t other, const std::string& expected) {
  const Shape &a = in(place), &b = in(other);
  if (!a) return b;
  if (!b) return a;
  if (a->size() != b->size()) {
    fail(expected, {end(place), end(other)});
    return std::nullopt;
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < a->size(); ++i) dims.push_back(same(place, i, other, i, expected));
  return dims;
}

Shape ShapeContext::broadcast(const Shape& a, std::size_t place, const Shape& b,
                              std::size_t other) {
  if (!a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->size(), b->size());
  std::vector<Dim> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    // Dimensions are counted from the last one.
    const Dim one = dim_of(1);
    const Dim& x = i < a->size() ? (*a)[a->size() - 1 - i] : one;
    const Dim& y = i < b->size() ? (*b)[b->size() - 1 - i] : one;
    Dim& result = dims[rank - 1 - i];
    if (x == y || y == one) {
      result = x;
    } else if (x == one) {
      result = y;
    } else if (x.known() && y.known()) {
      const auto text = [&](const Dim& dim, std::size_t size) {
        return symbols_.text(dim) + " in dimension " + std::to_string(size - 1 - i);
      };
      fail("sizes that are equal or 1",
           {end(place, text(x, a->size())), end(other, text(y, b->size()))},
           {x.constant, y.constant});
      result = symbols_.fresh();
    } else {
      result = x.known() ? x : y.known() ? y : symbols_.fresh();
    }
  }
  return dims;
}

bool ShapeContext::has_rank(std::size_t place, std::size_t rank) {
  if (!in(place) || in(place)->size() == rank) return true;
  fail(std::to_string(rank) + " dimensions", {end(place)});
  return false;
}

std::optional<std::size_t> ShapeContext::axis(std::int64_t axis, std::size_t rank,
                                              std::size_t place) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis >= -size && axis < size) return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
  fail("a dimension from " + std::to_string(-size) + " to " + std::to_string(size - 1),
       {end(place, "dimension " + std::to_string(axis))});
  return std::nullopt;
}

}  // namespace neutra::graphs
