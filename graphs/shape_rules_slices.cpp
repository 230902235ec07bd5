#include <algorithm>

#include "graphs/shape_context.h"

namespace neutra::graphs {
namespace {

std::vector<Dim> fresh_dims(ShapeContext& c, std::size_t rank) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(c.symbols().fresh());
  return dims;
}

void slice(ShapeContext& c) {
  const auto begin = c.wholes(1);
  const auto& size = c.value(2);
  if (!c.in(0)) return c.out(size ? Shape(fresh_dims(c, size->size())) : std::nullopt);
  if (!size || size->size() != c.in(0)->size()) return c.out(fresh_dims(c, c.in(0)->size()));
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < size->size(); ++i) {
    const Dim whole = (*c.in(0))[i];
    if (!((*size)[i] == dim_of(-1))) {
      dims.push_back((*size)[i]);
      const std::int64_t from = begin && i < begin->size() ? (*begin)[i] : 0;
      if (whole.known() && (*size)[i].known() && from + (*size)[i].constant > whole.constant)
        c.fail("begin and size within the dimension", {c.end(0, i)},
               {whole.constant, from + (*size)[i].constant});
    } else if (begin && i < begin->size()) {
      dims.push_back(c.symbols().subtract(whole, dim_of((*begin)[i])));
    } else {
      dims.push_back(c.symbols().fresh());
    }
  }
  std::optional<std::vector<Dim>> value;
  const auto& all = c.value(0);
  if (all && dims.size() == 1 && dims[0].known() && begin && begin->size() == 1) {
    const std::int64_t from = (*begin)[0], to = from + dims[0].constant;
    if (from >= 0 && from <= to && to <= static_cast<std::int64_t>(all->size()))
      value.emplace(all->begin() + from, all->begin() + to);
  }
  c.out(dims, value);
}

/// How many elements from `begin` to `end` by `step` of a dimension of `size` are taken.
Dim strided_size(ShapeContext& c, const Dim& size, std::optional<std::int64_t> begin,
                 std::optional<std::int64_t> end, std::int64_t step) {
  if (!size.known()) {
    if (!begin && !end && step == 1) return size;
    // From a fixed place to another, both counted from the same side, of a size that holds them.
    return c.symbols().fresh();
  }
  const std::int64_t n = size.constant;
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto bound = [&](std::int64_t at) { return std::clamp(at < 0 ? at + n : at, low, high); };
  const std::int64_t from = begin ? bound(*begin) : step > 0 ? 0 : n - 1;
  const std::int64_t to = end ? bound(*end) : step > 0 ? n : -1;
  const std::int64_t span = step > 0 ? to - from : from - to;
  const std::int64_t stride = step > 0 ? step : -step;
  return dim_of(span <= 0 ? 0 : (span + stride - 1) / stride);
}

void strided(ShapeContext& c) {
  const auto begin = c.wholes(1), end = c.wholes(2), step = c.wholes(3);
  if (!c.in(0) || !begin || !end || !step || begin->size() != end->size() ||
      step->size() != end->size())
    return c.out(std::nullopt);
  const auto has = [&](const char* mask, std::size_t i) {
    return i < 63 && (c.node().integer(mask, 0) >> i & 1) != 0;
  };
  const std::size_t terms = begin->size();
  std::size_t taken = 0;
  bool dots = false;
  for (std::size_t i = 0; i < terms; ++i) {
    dots = dots || has("ellipsis_mask", i);
    if (!has("ellipsis_mask", i) && !has("new_axis_mask", i)) ++taken;
  }
  const std::size_t rank = c.in(0)->size();
  if (taken > rank) {
    c.fail("at most as many indices as dimensions", {c.end(0), c.end(1)});
    return c.out(std::nullopt);
  }
  std::vector<Dim> dims;
  std::size_t at = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    if (has("ellipsis_mask", i)) {
      for (std::size_t k = 0; k < rank - taken; ++k) dims.push_back((*c.in(0))[at++]);
    } else if (has("new_axis_mask", i)) {
      dims.push_back(dim_of(1));
    } else if (has("shrink_axis_mask", i)) {
      const Dim size = (*c.in(0))[at];
      const std::int64_t place = (*begin)[i];
      if (size.known() && (place >= size.constant || place < -size.constant))
        c.fail("an index from " + std::to_string(-size.constant) + " to " +
                   std::to_string(size.constant - 1),
               {c.end(0, at), c.end(1, "index " + std::to_string(place))},
               {size.constant, place >= 0 ? place + 1 : -place});
      ++at;
    } else {
      using Bound = std::optional<std::int64_t>;
      dims.push_back(strided_size(
          c, (*c.in(0))[at++], has("begin_mask", i) ? Bound() : Bound((*begin)[i]),
          has("end_mask", i) ? Bound() : Bound((*end)[i]), (*step)[i] == 0 ? 1 : (*step)[i]));
    }
  }
  if (!dots)
    while (at < rank) dims.push_back((*c.in(0))[at++]);
  std::optional<std::vector<Dim>> value;
  const auto& all = c.value(0);
  if (all && rank == 1 && terms == 1 && taken == 1) {
    const auto n = static_cast<std::int64_t>(all->size());
    const auto bound = [&](std::int64_t i) {
      return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n);
    };
    const std::int64_t from = has("begin_mask", 0) ? 0 : bound((*begin)[0]);
    if (has("shrink_axis_mask", 0)) {
      if (from < n) value = {(*all)[static_cast<std::size_t>(from)]};
    } else if ((*step)[0] == 1) {
      const std::int64_t to = has("end_mask", 0) ? n : bound((*end)[0]);
      value.emplace();
      for (std::int64_t k = from; k < to; ++k)
        value->push_back((*all)[static_cast<std::size_t>(k)]);
    }
  }
  c.out(dims, value);
}

/// Split has the axis first, SplitV the sizes second and the axis last.
void split(ShapeContext& c) {
  const bool sized = c.node().op == "SplitV";
  const std::size_t data = sized ? 0 : 1;
  const std::int64_t count = std::clamp<std::int64_t>(c.node().integer("num_split", 1), 1, 65535);
  const auto where = c.whole(sized ? 2 : 0);
  const auto sizes = sized ? c.wholes(1) : std::nullopt;
  Shape shape = c.in(data);
  std::optional<std::size_t> axis;
  if (shape && where) axis = c.axis(*where, shape->size(), data);
  if (shape && !axis) shape = fresh_dims(c, shape->size());
  if (axis && !sized) {
    const Dim size = (*shape)[*axis];
    if (size.known() && size.constant % count != 0)
      c.fail("a size that " + std::to_string(count) + " divides", {c.end(data, *axis)},
             {size.constant, (size.constant / count + 1) * count});
    (*shape)[*axis] = c.symbols().divide(size, dim_of(count), false);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (axis && sized)
      (*shape)[*axis] = sizes && static_cast<std::size_t>(i) < sizes->size() &&
                                (*sizes)[static_cast<std::size_t>(i)] >= 0
                            ? dim_of((*sizes)[static_cast<std::size_t>(i)])
                            : c.symbols().fresh();
    c.out(shape);
  }
}

void pad(ShapeContext& c) {
  const auto pads = c.inputs() > 1 ? c.wholes(1) : std::nullopt;
  if (!c.in(0)) return c.out(std::nullopt);
  std::optional<std::vector<std::int64_t>> table;
  // The paddings are a matrix: their elements are those of the constant.
  if (c.inputs() > 1) {
    const Node& from = c.graph().nodes[c.node().inputs[1].node];
    const Attribute* value = from.find("value");
    if (from.op == "Const" && value && value->tensor && !value->tensor->values.empty()) {
      table.emplace();
      for (std::int64_t i = 0; i < value->tensor->size() && i < 64; ++i)
        table->push_back(static_cast<std::int64_t>(
            value->tensor
                ->values[value->tensor->values.size() == 1 ? 0 : static_cast<std::size_t>(i)]));
    }
  }
  std::vector<Dim> dims = *c.in(0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    dims[i] = table && table->size() == 2 * dims.size()
                  ? c.symbols().add(dims[i], dim_of((*table)[2 * i] + (*table)[2 * i + 1]))
                  : c.symbols().fresh();
  c.out(dims);
}

void gather(ShapeContext& c) {
  const auto where = c.inputs() > 2 ? c.whole(2) : std::optional<std::int64_t>(0);
  const std::int64_t batch = c.node().integer("batch_dims", 0);
  if (!c.in(0) || !c.in(1) || !where || batch != 0) return c.out(std::nullopt);
  const auto axis = c.axis(*where, c.in(0)->size(), 0);
  if (!axis) return c.out(std::nullopt);
  std::vector<Dim> dims(c.in(0)->begin(), c.in(0)->begin() + static_cast<long>(*axis));
  dims.insert(dims.end(), c.in(1)->begin(), c.in(1)->end());
  dims.insert(dims.end(), c.in(0)->begin() + static_cast<long>(*axis) + 1, c.in(0)->end());
  std::optional<std::vector<Dim>> value;
  const auto places = c.wholes(1);
  if (c.value(0) && places && c.in(0)->size() == 1) {
    value.emplace();
    for (const std::int64_t place : *places)
      if (place >= 0 && place < static_cast<std::int64_t>(c.value(0)->size()))
        value->push_back((*c.value(0))[static_cast<std::size_t>(place)]);
    if (value->size() != places->size()) value = std::nullopt;
  }
  c.out(dims, value);
}

void shape_from_first(ShapeContext& c) {
  if (const auto& value = c.value(0)) return c.out(*value);
  const Shape& shape = c.in(0);
  if (!shape || shape->size() != 1 || !shape->front().known() || shape->front().constant > 254)
    return c.out(std::nullopt);
  c.out(fresh_dims(c, static_cast<std::size_t>(shape->front().constant)));
}

}  // namespace

void add_slice_rules(ShapeRules& rules) {
  rules["Slice"] = slice;
  rules["StridedSlice"] = strided;
  rules["StridedSliceGrad"] = shape_from_first;
  rules["Split"] = split;
  rules["SplitV"] = split;
  for (const char* op : {"Pad", "PadV2", "MirrorPad"}) rules[op] = pad;
  for (const char* op : {"Gather", "GatherV2", "ResourceGather"}) rules[op] = gather;
}

}  // namespace neutra::graphs
