#include <algorithm>

#include "graphs/numeric_context.h"

namespace neutra::graphs {
namespace {

/// One block, under another shape: relations go on where the shape is known.
AbstractTensor reshaped(NumericContext& c, const std::string& change) {
  AbstractTensor result = joined(c.in(0));
  Relations* relations = c.relations();
  const AbstractTensor& x = c.in(0);
  if (!relations || !c.out_shape()) return result;
  if (c.shape(0) && *c.shape(0) == *c.out_shape()) return x;
  result.symbol = relations->view(x.symbol, change + key_of(c.out_shape()));
  if (x.form) {
    Linear form;
    form.rest = x.form->rest;
    for (const auto& [symbol, factor] : x.form->terms)
      form.terms[relations->view(symbol, change + key_of(c.out_shape()))] += factor;
    if (!form.terms.contains(0)) result.form = form;
  }
  return result;
}

void reshape(NumericContext& c) {
  if (c.shape(0) && c.out_shape() && *c.shape(0) == *c.out_shape()) return c.out(c.in(0));
  c.out(reshaped(c, "reshape "));
}

/// Dimensions of size 1 come or go: cuts stay where they were.
void expand(NumericContext& c) {
  AbstractTensor result = reshaped(c, "reshape ");
  const auto axis = c.wholes(1);
  const AbstractTensor& x = c.in(0);
  if (x.parted() && axis && axis->size() == 1 && c.shape(0)) {
    const auto rank = static_cast<std::int64_t>(c.shape(0)->size());
    const std::int64_t place = (*axis)[0] < 0 ? (*axis)[0] + rank + 1 : (*axis)[0];
    // Counted from the last dimension of the result.
    const std::int64_t behind = rank - place;
    result.blocks = x.blocks;
    result.cuts = x.cuts;
    result.back = x.back + (behind <= static_cast<std::int64_t>(x.back) ? 1 : 0);
  }
  c.out(std::move(result));
}

void transpose(NumericContext& c) {
  const auto order = c.wholes(1);
  AbstractTensor result = joined(c.in(0));
  if (order && c.relations()) {
    std::string change = "transpose ";
    for (const std::int64_t axis : *order) change += std::to_string(axis) + ",";
    result.symbol = c.relations()->view(c.in(0).symbol, change);
  }
  const AbstractTensor& x = c.in(0);
  if (order && x.parted()) {
    const auto rank = static_cast<std::int64_t>(order->size());
    for (std::int64_t i = 0; i < rank; ++i) {
      if ((*order)[static_cast<std::size_t>(i)] != rank - 1 - static_cast<std::int64_t>(x.back))
        continue;
      result.blocks = x.blocks;
      result.cuts = x.cuts;
      result.back = static_cast<std::size_t>(rank - 1 - i);
    }
  }
  c.out(std::move(result));
}

/// The blocks of parts, one behind the other. `sizes`: of the parts, as far as they are known.
AbstractTensor behind_each_other(NumericContext& c, const std::vector<AbstractTensor>& parts,
                                 const std::vector<std::optional<std::int64_t>>& sizes,
                                 std::size_t back) {
  AbstractTensor result;
  result.type = parts.front().type;
  result.blocks.clear();
  result.back = back;
  std::int64_t begin = 0;
  Interval all = parts.front().whole();
  bool placed = c.partitions();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all = hull(all, parts[i].whole());
    if (!placed) continue;
    const AbstractTensor part = parts[i].back == back ? parts[i] : joined(parts[i]);
    for (std::size_t k = 0; k < part.blocks.size(); ++k) {
      if (!result.blocks.empty()) result.cuts.push_back(begin + (k == 0 ? 0 : part.cuts[k - 1]));
      result.blocks.push_back(part.blocks[k]);
    }
    if (i + 1 == parts.size()) break;
    placed = sizes[i].has_value();
    begin += sizes[i].value_or(0);
  }
  if (placed && result.blocks.size() <= kMostBlocks &&
      std::adjacent_find(result.cuts.begin(), result.cuts.end(), std::greater_equal<>()) ==
          result.cuts.end())
    return result;
  return tensor_within(all, parts.front().type);
}

void concat(NumericContext& c) {
  const bool first = c.node().op == "Concat";
  if (c.inputs() < 2) return c.out(tensor_within({}, ElementType::kUnknown));
  const std::size_t begin = first ? 1 : 0, end = first ? c.inputs() : c.inputs() - 1;
  const auto axis = c.wholes(first ? 0 : c.inputs() - 1);
  std::vector<AbstractTensor> parts;
  std::vector<std::optional<std::int64_t>> sizes;
  std::optional<std::size_t> back;
  for (std::size_t i = begin; i < end; ++i) {
    parts.push_back(c.in(i));
    const Shape& shape = c.shape(i);
    sizes.emplace_back();
    if (!shape || !axis || axis->size() != 1) continue;
    const auto rank = static_cast<std::int64_t>(shape->size());
    const std::int64_t place = (*axis)[0] < 0 ? (*axis)[0] + rank : (*axis)[0];
    if (place < 0 || place >= rank) continue;
    back = static_cast<std::size_t>(rank - 1 - place);
    const Dim& size = (*shape)[static_cast<std::size_t>(place)];
    if (size.known()) sizes.back() = size.constant;
  }
  if (!back) sizes.assign(parts.size(), std::nullopt);
  c.out(behind_each_other(c, parts, sizes, back.value_or(0)));
}

void pack(NumericContext& c) {
  if (c.inputs() == 0) return c.out(tensor_within({}, ElementType::kUnknown));
  std::vector<AbstractTensor> parts;
  for (std::size_t i = 0; i < c.inputs(); ++i) parts.push_back(joined(c.in(i)));
  std::vector<std::optional<std::int64_t>> sizes(parts.size());
  std::size_t back = 0;
  if (c.out_shape()) {
    const auto rank = static_cast<std::int64_t>(c.out_shape()->size());
    const std::int64_t axis = c.node().integer("axis", 0);
    const std::int64_t place = axis < 0 ? axis + rank : axis;
    if (place >= 0 && place < rank) {
      back = static_cast<std::size_t>(rank - 1 - place);
      sizes.assign(parts.size(), 1);
      for (AbstractTensor& part : parts) part.back = back;
    }
  }
  c.out(behind_each_other(c, parts, sizes, back));
}

void unpack(NumericContext& c) {
  const std::int64_t count = std::clamp<std::int64_t>(c.node().integer("num", 0), 0, 65535);
  const Shape& shape = c.shape(0);
  for (std::int64_t i = 0; i < count; ++i) {
    AbstractTensor part = joined(c.in(0));
    if (shape && c.in(0).parted()) {
      const auto rank = static_cast<std::int64_t>(shape->size());
      const std::int64_t axis = c.node().integer("axis", 0);
      const std::int64_t place = axis < 0 ? axis + rank : axis;
      if (rank - 1 - place == static_cast<std::int64_t>(c.in(0).back))
        part = joined(cut_out(c.in(0), c.in(0).back, i, i + 1));
    }
    c.out(std::move(part));
  }
}

void slice(NumericContext& c) {
  const auto begin = c.wholes(1), size = c.wholes(2);
  const Shape& shape = c.shape(0);
  const AbstractTensor& x = c.in(0);
  AbstractTensor result = joined(x);
  if (shape && begin && size && begin->size() == shape->size() && size->size() == shape->size()) {
    const std::size_t axis = shape->size() - 1 - std::min(x.back, shape->size() - 1);
    if (x.parted()) {
      const std::int64_t from = (*begin)[axis], length = (*size)[axis];
      result = cut_out(x, x.back, from, length < 0 ? std::optional<std::int64_t>() : from + length);
    }
    std::string change = "slice ";
    for (std::size_t i = 0; i < begin->size(); ++i)
      change += std::to_string((*begin)[i]) + "+" + std::to_string((*size)[i]) + ",";
    if (c.relations()) result.symbol = c.relations()->view(x.symbol, change);
    if (c.relations()) confine(result, x.whole());
  }
  c.out(std::move(result));
}

/// Cuts are followed where each index is a plain range by steps of 1.
void strided(NumericContext& c) {
  const auto begin = c.wholes(1), end = c.wholes(2), step = c.wholes(3);
  const Shape& shape = c.shape(0);
  const AbstractTensor& x = c.in(0);
  AbstractTensor result = joined(x);
  const bool plain =
      c.node().integer("ellipsis_mask", 0) == 0 && c.node().integer("new_axis_mask", 0) == 0;
  if (!x.parted() || !plain || !shape || !begin || !end || !step || begin->size() != end->size() ||
      step->size() != end->size() || x.back >= shape->size())
    return c.out(result);
  const std::size_t axis = shape->size() - 1 - x.back;
  const std::int64_t shrunk = c.node().integer("shrink_axis_mask", 0);
  AbstractTensor part = x;
  part.symbol = 0;
  part.form.reset();
  part.attained.reset();
  bool gone = false;
  std::size_t gone_behind = 0;
  for (std::size_t i = 0; i < begin->size() && i < 60; ++i) {
    const bool one = (shrunk >> i & 1) != 0;
    if (one && i > axis) ++gone_behind;
    if (i != axis) continue;
    const Dim& size = (*shape)[axis];
    const auto place = [&](std::int64_t at) -> std::optional<std::int64_t> {
      if (at >= 0) return at;
      if (size.known()) return at + size.constant;
      return std::nullopt;
    };
    const bool open = (c.node().integer("end_mask", 0) >> i & 1) != 0;
    const auto from = (c.node().integer("begin_mask", 0) >> i & 1) != 0
                          ? std::optional<std::int64_t>(0)
                          : place((*begin)[i]);
    const auto to = one && from ? std::optional<std::int64_t>(*from + 1)
                    : open      ? std::nullopt
                                : place((*end)[i]);
    if (!from || (!to && !open) || (*step)[i] != 1) return c.out(result);
    part = cut_out(x, x.back, *from, to);
    gone = one;
  }
  if (gone) return c.out(joined(part));
  part.back -= std::min(part.back, gone_behind);
  c.out(std::move(part));
}

void split(NumericContext& c) {
  const bool sized = c.node().op == "SplitV";
  const std::size_t data = sized ? 0 : 1;
  const AbstractTensor& x = c.in(data);
  const Shape& shape = c.shape(data);
  const std::int64_t count = std::clamp<std::int64_t>(c.node().integer("num_split", 1), 1, 65535);
  const auto where = c.wholes(sized ? 2 : 0);
  const auto sizes = sized ? c.wholes(1) : std::nullopt;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    AbstractTensor part = joined(x);
    if (x.parted() && shape && where && where->size() == 1 && begin >= 0) {
      const auto rank = static_cast<std::int64_t>(shape->size());
      const std::int64_t axis = (*where)[0] < 0 ? (*where)[0] + rank : (*where)[0];
      std::int64_t size = -1;
      if (axis >= 0 && axis < rank) {
        const Dim& dim = (*shape)[static_cast<std::size_t>(axis)];
        if (sizes && static_cast<std::size_t>(i) < sizes->size())
          size = (*sizes)[static_cast<std::size_t>(i)];
        if (!sized && dim.known()) size = dim.constant / count;
        const std::size_t back = static_cast<std::size_t>(rank - 1 - axis);
        if (back != x.back) part = cut_out(x, back, 0, std::nullopt);
        if (back == x.back && size >= 0) part = cut_out(x, back, begin, begin + size);
      }
      begin = size < 0 ? -1 : begin + size;
    }
    c.out(std::move(part));
  }
}

void gather(NumericContext& c) { c.out(joined(c.in(0))); }

void pad(NumericContext& c) {
  AbstractTensor result = joined(c.in(0));
  const Interval with = c.node().op == "PadV2" ? c.in(2).whole()
                        : c.node().op == "Pad" ? Interval{0, 0}
                                               : result.whole();
  result.blocks = {hull(result.whole(), with)};
  c.out(std::move(result));
}

void one_hot(NumericContext& c) {
  c.out(tensor_within(hull(c.in(2).whole(), c.in(3).whole()), c.in(2).type));
}

void broadcast_to(NumericContext& c) {
  AbstractTensor result = joined(c.in(0));
  if (c.relations())
    result.symbol = c.relations()->broadcast(c.in(0).symbol, c.shape(0), c.out_shape());
  c.out(std::move(result));
}

}  // namespace

void add_numeric_structure(NumericRules& rules) {
  rules["Reshape"] = reshape;
  rules["Squeeze"] = reshape;
  rules["ExpandDims"] = expand;
  rules["Transpose"] = transpose;
  rules["ConcatV2"] = concat;
  rules["Concat"] = concat;
  rules["Pack"] = pack;
  rules["Unpack"] = unpack;
  rules["Slice"] = slice;
  rules["StridedSlice"] = strided;
  rules["Split"] = split;
  rules["SplitV"] = split;
  for (const char* op :
       {"Gather", "GatherV2", "ResourceGather", "Tile", "RandomShuffle", "ReverseV2"})
    rules[op] = gather;
  for (const char* op : {"Pad", "PadV2", "MirrorPad"}) rules[op] = pad;
  rules["OneHot"] = one_hot;
  rules["BroadcastTo"] = broadcast_to;
}

}  // namespace neutra::graphs
