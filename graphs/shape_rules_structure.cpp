#include <algorithm>
#include <set>

#include "graphs/shape_context.h"

namespace neutra::graphs {
namespace {

std::vector<Dim> fresh_dims(ShapeContext& c, std::size_t rank) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(c.symbols().fresh());
  return dims;
}

/// The shape that the elements of an input spell.
Shape of_value(ShapeContext& c, std::size_t place) {
  if (const auto& value = c.value(place)) return *value;
  const Shape& shape = c.in(place);
  if (!shape || shape->size() != 1 || !shape->front().known() || shape->front().constant > 254)
    return std::nullopt;
  return fresh_dims(c, static_cast<std::size_t>(shape->front().constant));
}

void shape_of_input(ShapeContext& c) {
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    if (c.in(i)) {
      c.out(std::vector<Dim>{dim_of(static_cast<std::int64_t>(c.in(i)->size()))}, *c.in(i));
    } else {
      c.out(std::vector<Dim>{c.symbols().fresh()});
    }
  }
}

void reshape(ShapeContext& c) {
  Shape target = of_value(c, 1);
  if (!target || !c.value(1)) return c.out(target);
  const std::optional<Dim> count = count_of(c.in(0));
  std::optional<std::size_t> open;
  std::vector<Dim> others;
  for (std::size_t i = 0; i < target->size(); ++i) {
    if ((*target)[i] == dim_of(-1)) {
      open = i;
    } else {
      others.push_back((*target)[i]);
    }
  }
  const std::optional<Dim> product = count_of(others);
  if (open) (*target)[*open] = c.symbols().fresh();
  if (!count || !product) return c.out(target);
  const auto wrong = [&](const std::string& expected) {
    c.fail(expected,
           {c.end(0, c.symbols().text(*count) + " elements"),
            c.end(1, "shape " + c.symbols().text(target) + ", " + c.symbols().text(*product) +
                         " elements")},
           {count->constant, product->constant});
  };
  if (!open) {
    if (count->known() && product->known() && !(*count == *product)) wrong("as many elements");
    return c.out(target);
  }
  if (product->known() && product->constant > 0) {
    if (count->constant % product->constant != 0 || count->factor % product->constant != 0) {
      // Of a symbolic size every multiple may come, unless all that is known is a plain number.
      if (count->known())
        wrong("a number of elements that " + c.symbols().text(*product) + " divides");
    } else {
      (*target)[*open] = c.symbols().divide(*count, *product, false);
    }
  } else if (*product == *count) {
    (*target)[*open] = dim_of(1);
  } else if (!product->known() && product->symbol == count->symbol && product->constant == 0 &&
             count->constant == 0 && count->factor % product->factor == 0) {
    (*target)[*open] = dim_of(count->factor / product->factor);
  }
  c.out(target);
}

void pack(ShapeContext& c) {
  Shape shape;
  std::vector<Dim> value;
  bool valued = true;
  std::size_t known = 0;
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    if (shape && c.in(i)) {
      c.same_shape(known, i, "parts of one shape");
    } else if (c.in(i)) {
      shape = c.in(i);
      known = i;
    }
    const auto& part = c.value(i);
    valued = valued && part && part->size() == 1 && c.in(i) && c.in(i)->empty();
    if (valued) value.push_back(part->front());
  }
  if (!shape) return c.out(std::nullopt);
  const auto axis = c.axis(c.node().integer("axis", 0), shape->size() + 1, 0);
  if (!axis) return c.out(std::nullopt);
  shape->insert(shape->begin() + static_cast<long>(*axis),
                dim_of(static_cast<std::int64_t>(c.inputs())));
  c.out(shape, valued ? std::optional(value) : std::nullopt);
}

void unpack(ShapeContext& c) {
  const std::int64_t count = std::clamp<std::int64_t>(c.node().integer("num", 0), 0, 65535);
  Shape shape = c.in(0);
  std::optional<std::vector<Dim>> value = c.value(0);
  if (shape) {
    const auto axis = c.axis(c.node().integer("axis", 0), shape->size(), 0);
    if (axis) {
      const Dim size = (*shape)[*axis];
      if (size.known() && size.constant != count)
        c.fail("a size of " + std::to_string(count), {c.end(0, *axis)}, {size.constant, count});
      shape->erase(shape->begin() + static_cast<long>(*axis));
    } else {
      shape = std::nullopt;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::optional<std::vector<Dim>> element;
    if (value && value->size() == static_cast<std::size_t>(count))
      element = {(*value)[static_cast<std::size_t>(i)]};
    c.out(shape, element);
  }
}

/// ConcatV2 has the axis behind the parts, Concat before them.
void concat(ShapeContext& c) {
  if (c.inputs() < 2) return c.out(std::nullopt);
  const bool first = c.node().op == "Concat";
  const std::size_t begin = first ? 1 : 0, end = first ? c.inputs() : c.inputs() - 1;
  const auto where = c.whole(first ? 0 : c.inputs() - 1);
  std::optional<std::size_t> model;
  for (std::size_t i = begin; i < end; ++i)
    if (c.in(i) && !model) model = i;
  if (!model) return c.out(std::nullopt);
  const std::size_t rank = c.in(*model)->size();
  if (!where) return c.out(fresh_dims(c, rank));
  const auto axis = c.axis(*where, rank, *model);
  if (!axis) return c.out(std::nullopt);
  std::vector<Dim> dims = *c.in(*model);
  Dim total = dim_of(0);
  std::vector<Dim> value;
  bool valued = rank == 1;
  for (std::size_t i = begin; i < end; ++i) {
    if (!c.in(i)) {
      total = c.symbols().fresh();
      valued = false;
      continue;
    }
    if (c.in(i)->size() != rank) {
      c.fail("parts of " + std::to_string(rank) + " dimensions", {c.end(*model), c.end(i)});
      return c.out(std::nullopt);
    }
    for (std::size_t d = 0; d < rank; ++d)
      if (d != *axis && i != *model)
        dims[d] = c.same(*model, d, i, d,
                         "parts of equal size in all dimensions but " + std::to_string(*axis));
    total = c.symbols().add(total, (*c.in(i))[*axis]);
    valued = valued && c.value(i);
    if (valued) value.insert(value.end(), c.value(i)->begin(), c.value(i)->end());
  }
  dims[*axis] = total;
  c.out(dims, valued ? std::optional(value) : std::nullopt);
}

void transpose(ShapeContext& c) {
  const auto order = c.wholes(1);
  if (!c.in(0)) return c.out(order ? Shape(fresh_dims(c, order->size())) : std::nullopt);
  if (!order) return c.out(fresh_dims(c, c.in(0)->size()));
  std::vector<Dim> dims;
  if (order->size() != c.in(0)->size())
    c.fail("an order of " + std::to_string(c.in(0)->size()) + " dimensions",
           {c.end(0), c.end(1, std::to_string(order->size()))});
  for (const std::int64_t from : *order) {
    const auto axis = c.axis(from, c.in(0)->size(), 0);
    dims.push_back(axis ? (*c.in(0))[*axis] : c.symbols().fresh());
  }
  c.out(dims);
}

void expand(ShapeContext& c) {
  const auto where = c.whole(1);
  if (!c.in(0)) return c.out(std::nullopt);
  if (!where) return c.out(fresh_dims(c, c.in(0)->size() + 1));
  const auto axis = c.axis(*where, c.in(0)->size() + 1, 0);
  if (!axis) return c.out(std::nullopt);
  std::vector<Dim> dims = *c.in(0);
  dims.insert(dims.begin() + static_cast<long>(*axis), dim_of(1));
  c.out(dims, c.value(0));
}

void squeeze(ShapeContext& c) {
  if (!c.in(0)) return c.out(std::nullopt);
  const std::vector<std::int64_t> axes = c.node().integers("squeeze_dims");
  std::set<std::size_t> gone;
  for (const std::int64_t each : axes)
    if (const auto axis = c.axis(each, c.in(0)->size(), 0)) gone.insert(*axis);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < c.in(0)->size(); ++i) {
    const Dim& dim = (*c.in(0))[i];
    if (axes.empty() && !dim.known()) return c.out(std::nullopt);
    if (axes.empty() ? dim == dim_of(1) : gone.contains(i)) {
      if (dim.known() && dim.constant != 1) c.fail("a size of 1", {c.end(0, i)}, {dim.constant, 1});
      continue;
    }
    dims.push_back(dim);
  }
  c.out(dims, c.value(0));
}

void reduce(ShapeContext& c) {
  const bool keep = c.node().integer("keep_dims", c.node().integer("keepdims", 0)) != 0;
  const auto axes = c.wholes(1);
  std::optional<std::vector<Dim>> value;
  if (c.node().op == "Prod" && c.value(0)) {
    Dim product = dim_of(1);
    for (const Dim& dim : *c.value(0)) product = c.symbols().multiply(product, dim);
    if (c.in(0) && c.in(0)->size() == 1 && !keep) value = {product};
  }
  if (!c.in(0)) return c.out(std::nullopt);
  if (!axes) return c.out(keep ? Shape(fresh_dims(c, c.in(0)->size())) : std::nullopt);
  std::set<std::size_t> gone;
  for (const std::int64_t each : *axes) {
    const auto axis = c.axis(each, c.in(0)->size(), 0);
    if (!axis) return c.out(std::nullopt);
    gone.insert(*axis);
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < c.in(0)->size(); ++i) {
    if (!gone.contains(i)) {
      dims.push_back((*c.in(0))[i]);
    } else if (keep) {
      dims.push_back(dim_of(1));
    }
  }
  c.out(dims, value);
}

void arg_reduce(ShapeContext& c) {
  const auto where = c.whole(1);
  if (!c.in(0)) return c.out(std::nullopt);
  if (!where)
    return c.out(c.in(0)->empty() ? Shape(std::vector<Dim>{})
                                  : Shape(fresh_dims(c, c.in(0)->size() - 1)));
  const auto axis = c.axis(*where, c.in(0)->size(), 0);
  if (!axis) return c.out(std::nullopt);
  std::vector<Dim> dims = *c.in(0);
  dims.erase(dims.begin() + static_cast<long>(*axis));
  c.out(dims);
}

void tile(ShapeContext& c) {
  const auto& times = c.value(1);
  if (!c.in(0)) return c.out(std::nullopt);
  if (!times) return c.out(fresh_dims(c, c.in(0)->size()));
  if (times->size() != c.in(0)->size()) {
    c.fail("a number for each dimension", {c.end(0), c.end(1, std::to_string(times->size()))});
    return c.out(std::nullopt);
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < times->size(); ++i)
    dims.push_back(c.symbols().multiply((*c.in(0))[i], (*times)[i]));
  c.out(dims);
}

void broadcast_to(ShapeContext& c) { c.out(of_value(c, 1)); }

/// The two outputs are axes, as many as the run finds.
void broadcast_arguments(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) c.out(std::vector<Dim>{c.symbols().fresh()});
}

void stitch(ShapeContext& c) {
  // Places of the result's rows, then the rows.
  const std::size_t half = c.inputs() / 2;
  std::int64_t most = -1;
  bool known = true, valued = true;
  for (std::size_t i = 0; i < half; ++i) {
    const auto places = c.wholes(i);
    known = known && places;
    if (!places) continue;
    for (const std::int64_t place : *places) most = std::max(most, place);
    valued = valued && c.value(half + i) && c.value(half + i)->size() == places->size();
  }
  if (!c.in(0) || !c.in(half) || c.in(half)->size() < c.in(0)->size()) return c.out(std::nullopt);
  std::vector<Dim> dims(c.in(half)->begin() + static_cast<long>(c.in(0)->size()),
                        c.in(half)->end());
  dims.insert(dims.begin(), known ? dim_of(most + 1) : c.symbols().fresh());
  if (!known || !valued || dims.size() != 1 || most > 1023) return c.out(dims);
  std::vector<Dim> value(static_cast<std::size_t>(most + 1), dim_of(0));
  for (std::size_t i = 0; i < half; ++i) {
    const auto places = c.wholes(i);
    for (std::size_t k = 0; k < places->size(); ++k)
      if ((*places)[k] >= 0)
        value[static_cast<std::size_t>((*places)[k])] = (*c.value(half + i))[k];
  }
  c.out(dims, value);
}

void one_hot(ShapeContext& c) {
  if (!c.in(0)) return c.out(std::nullopt);
  const auto axis = c.axis(c.node().integer("axis", -1), c.in(0)->size() + 1, 0);
  if (!axis) return c.out(std::nullopt);
  std::vector<Dim> dims = *c.in(0);
  const auto& depth = c.value(1);
  dims.insert(dims.begin() + static_cast<long>(*axis),
              depth && depth->size() == 1 ? depth->front() : c.symbols().fresh());
  c.out(dims);
}

}  // namespace

void add_structure_rules(ShapeRules& rules) {
  rules["Shape"] = shape_of_input;
  rules["ShapeN"] = shape_of_input;
  rules["Reshape"] = reshape;
  rules["Pack"] = pack;
  rules["Unpack"] = unpack;
  rules["ConcatV2"] = concat;
  rules["Concat"] = concat;
  rules["Transpose"] = transpose;
  rules["ExpandDims"] = expand;
  rules["Squeeze"] = squeeze;
  for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod", "All", "Any", "EuclideanNorm"})
    rules[op] = reduce;
  rules["ArgMax"] = arg_reduce;
  rules["ArgMin"] = arg_reduce;
  rules["Tile"] = tile;
  rules["BroadcastTo"] = broadcast_to;
  rules["BroadcastGradientArgs"] = broadcast_arguments;
  rules["DynamicStitch"] = stitch;
  rules["OneHot"] = one_hot;
  rules["ConcatOffset"] = [](ShapeContext& c) {
    for (std::size_t i = 1; i < c.inputs(); ++i) c.out(c.in(i));
  };
}

}  // namespace neutra::graphs
