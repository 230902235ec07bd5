// The arithmetic of views, and of what joins tensors.

#include <algorithm>

#include "source/shape_math.h"

namespace neutra::source {
namespace {

/// The product of known sizes; unknown if one is not known, or it is too large.
std::int64_t product_of(const std::vector<Dim>& dims, std::size_t begin) {
  std::int64_t all = 1;
  for (std::size_t i = begin; i < dims.size(); ++i) {
    if (!dims[i].known() || dims[i].size < 0) return Dim::kUnknown;
    if (dims[i].size > 0 && all > (std::int64_t{1} << 40) / dims[i].size) return Dim::kUnknown;
    all *= dims[i].size;
  }
  return all;
}

std::string sizes_text(const std::vector<Dim>& dims) {
  std::string text = "(";
  for (const Dim& dim : dims)
    text += (text.size() > 1 ? ", " : "") + (dim.known() ? std::to_string(dim.size) : "?");
  return text + ")";
}

/// The place that says the last known size.
NodeId place_of(const std::vector<Dim>& dims, NodeId otherwise) {
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
    if (dim->known() && dim->from != kNoNode) return dim->from;
  return otherwise;
}

bool is_product_of_last_axes(const std::vector<Dim>& dims, std::int64_t size) {
  for (std::size_t begin = 1; begin <= dims.size(); ++begin)
    if (product_of(dims, begin) == size) return true;
  return false;
}

}  // namespace

Thing ShapeMath::reshape(const ShapeCall& call, const Shape& shape,
                         const std::vector<Thing>& sizes) {
  Shape result;
  result.ranked = result.sure = true;
  result.from = call.call;
  std::size_t open = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Dim dim = sizes[i].is(ThingKind::kNumber) ? sizes[i].number : Dim{};
    if (dim.known() && dim.size == -1) {
      open = i;
      dim = {};
    }
    if (dim.known() && dim.from == kNoNode) dim.from = call.call;
    result.dims.push_back(dim);
  }
  if (result.dims.empty()) return {};
  if (!shape.ranked) {
    if (result.dims[0].symbol == 0 && !result.dims[0].known()) result.dims[0] = fresh();
    return tensor_thing(std::move(result));
  }
  const bool same_batch =
      !shape.dims.empty() && result.dims[0].symbol != 0 && result.dims[0].same_as(shape.dims[0]);
  check_reshape(call, shape, [&] {
    std::vector<Dim> wanted = result.dims;
    if (open < wanted.size()) wanted[open] = Dim{-1};
    return wanted;
  }());
  if (open < result.dims.size()) {
    std::vector<Dim> others = result.dims;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(open));
    const std::size_t skip = same_batch ? 1 : 0;
    const std::int64_t all = product_of(shape.dims, skip), rest = product_of(others, skip);
    if (all != Dim::kUnknown && rest != Dim::kUnknown && rest > 0 && all % rest == 0 &&
        (skip == 0 || open > 0))
      result.dims[open] = {all / rest, call.call};
    else if (open == 0 && shape.dims.size() > 1 &&
             product_of(shape.dims, 1) == product_of(result.dims, 1) &&
             product_of(result.dims, 1) != Dim::kUnknown)
      result.dims[0] = shape.dims[0];
    else
      result.dims[open] = fresh();
  }
  return tensor_thing(std::move(result));
}

/// `wanted`: -1 where the size is what is left.
void ShapeMath::check_reshape(const ShapeCall& call, const Shape& shape, const Dims& wanted) {
  const bool same_batch = wanted[0].symbol != 0 && !shape.dims.empty() &&
                          wanted[0].same_as(shape.dims[0]) && !wanted[0].known();
  const std::size_t skip = same_batch ? 1 : 0;
  Dims others;
  bool open = false;
  for (std::size_t i = skip; i < wanted.size(); ++i) {
    if (wanted[i].known() && wanted[i].size == -1)
      open = true;
    else
      others.push_back(wanted[i]);
  }
  const std::int64_t rest = product_of(others, 0);
  if (rest == Dim::kUnknown || rest == 0) return;
  const auto disagree = [&](std::string_view kind, const std::string& text) {
    report(kind, call.call, text,
           {{place_of(others, call.call), sizes_text(wanted)},
            {place_of(shape.dims, shape.from != kNoNode ? shape.from : call.call),
             sizes_text(shape.dims)}});
  };
  const std::int64_t all = product_of(shape.dims, skip);
  if (all != Dim::kUnknown) {
    if (open ? all % rest != 0 : all != rest)
      disagree("reshape-size", std::to_string(all) + " numbers " +
                                   (same_batch ? "of a sample " : "") + "do not fit " +
                                   std::to_string(rest) + (open ? " or a multiple" : ""));
    return;
  }
  // view(-1, N) of samples that have another size mixes numbers of different samples.
  if (!open || wanted[0].size != -1 || shape.dims.size() < 2 || shape.dims[0].known()) return;
  const std::int64_t sample = product_of(shape.dims, 1);
  if (sample == Dim::kUnknown || sample == rest || is_product_of_last_axes(shape.dims, rest))
    return;
  if (shape.dims.size() < 4 && (sample % rest == 0 || rest % sample == 0)) return;
  if (wanted.size() > 2 && (sample % rest == 0 || rest % sample == 0)) return;
  disagree("mixed-samples", "samples of " + std::to_string(sample) + " numbers become rows of " +
                                std::to_string(rest) + ": rows mix samples");
}

Thing ShapeMath::permute(const Shape& shape, const std::vector<Thing>& axes) {
  if (!shape.ranked || axes.size() != shape.dims.size()) return {};
  Shape result = shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].is_known_number()) return {};
    const Dim* dim = shape.at(axes[i].number.size);
    if (dim == nullptr) return {};
    result.dims[i] = *dim;
  }
  return tensor_thing(std::move(result));
}

Thing ShapeMath::transpose(const ShapeCall& call, const Shape& shape) {
  const Thing one = setting(call, "dim0"), other = setting(call, "dim1");
  if (!one.is_known_number() || !other.is_known_number()) return {};
  const Dim* first = shape.at(one.number.size);
  const Dim* second = shape.at(other.number.size);
  if (first == nullptr || second == nullptr) return {};
  Shape result = shape;
  std::swap(result.dims[static_cast<std::size_t>(first - shape.dims.data())],
            result.dims[static_cast<std::size_t>(second - shape.dims.data())]);
  return tensor_thing(std::move(result));
}

Thing ShapeMath::squeeze(const ShapeCall& call, const Shape& shape) {
  const Thing axis = setting(call, "dim");
  if (!axis.is_known_number() || !shape.ranked) return {};
  Shape result = shape;
  result.from = call.call;
  const auto rank = static_cast<std::int64_t>(shape.dims.size());
  const bool adds = call.entry->op == ShapeOp::kUnsqueeze;
  std::int64_t at = axis.number.size;
  if (at < 0) at += rank + (adds ? 1 : 0);
  if (at < 0 || at > rank - (adds ? 0 : 1)) return {};
  if (adds) {
    result.dims.insert(result.dims.begin() + at, Dim{1, call.call});
  } else {
    const Dim& dim = shape.dims[static_cast<std::size_t>(at)];
    if (!dim.known()) return {};
    if (dim.size == 1) result.dims.erase(result.dims.begin() + at);
  }
  return tensor_thing(std::move(result));
}

Thing ShapeMath::reduce(const ShapeCall& call, const Shape& shape) {
  const Thing given = setting(call, "dim");
  const std::optional<bool> keeps = flag(call, "keepdim");
  if (!shape.ranked || !keeps || call.settings->contains("axis")) return {};
  std::vector<Thing> axes;
  if (given.is_known_number()) axes = {given};
  if (given.is(ThingKind::kList) && !given.object->opaque) axes = given.object->items;
  if (axes.empty()) return {};
  std::vector<bool> gone(shape.dims.size());
  for (const Thing& axis : axes) {
    if (!axis.is_known_number()) return {};
    const Dim* dim = shape.at(axis.number.size);
    if (dim == nullptr) return {};
    gone[static_cast<std::size_t>(dim - shape.dims.data())] = true;
  }
  Shape result = shape;
  result.from = call.call;
  result.dims.clear();
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i])
      result.dims.push_back(shape.dims[i]);
    else if (*keeps)
      result.dims.push_back(Dim{1, call.call});
  }
  return tensor_thing(std::move(result));
}

Thing ShapeMath::concatenate(const ShapeCall& call, const std::vector<Thing>& parts, bool keras) {
  const Thing axis = setting(call, keras ? "axis" : "dim");
  if (parts.empty() || !axis.is_known_number()) return {};
  for (const Thing& part : parts)
    if (!part.is(ThingKind::kTensor) || !part.shape->ranked ||
        part.shape->dims.size() != parts[0].shape->dims.size() ||
        part.shape->at(axis.number.size) == nullptr)
      return {};
  Shape result = *parts[0].shape;
  result.from = call.call;
  const auto along =
      static_cast<std::size_t>(parts[0].shape->at(axis.number.size) - parts[0].shape->dims.data());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape& shape = *parts[i].shape;
    result.sure = result.sure && shape.sure;
    for (std::size_t k = 0; k < result.dims.size(); ++k) {
      Dim& sum = result.dims[k];
      const Dim& own = shape.dims[k];
      if (k == along) {
        sum = sum.known() && own.known() ? Dim{sum.size + own.size, call.call} : Dim{};
      } else if (sum.known() && own.known() && sum.size != own.size) {
        report("joined-shapes", call.call,
               name_of(call.maker) + " joins along axis " + std::to_string(along) + ", but axis " +
                   std::to_string(k) + " is " + std::to_string(sum.size) + " and " +
                   std::to_string(own.size),
               {{sum.from != kNoNode ? sum.from : call.call, std::to_string(sum.size)},
                {own.from != kNoNode ? own.from : call.call, std::to_string(own.size)}});
        sum = {};
      } else if (!sum.known()) {
        sum = own;
      }
    }
  }
  return tensor_thing(std::move(result));
}

Thing ShapeMath::stack(const ShapeCall& call, const std::vector<Thing>& parts) {
  const Thing axis = setting(call, "dim");
  if (parts.empty() || !axis.is_known_number()) return {};
  for (const Thing& part : parts)
    if (!part.is(ThingKind::kTensor) || !part.shape->ranked) return {};
  Shape result = *parts[0].shape;
  result.from = call.call;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape& shape = *parts[i].shape;
    if (shape.dims.size() != result.dims.size()) return {};
    result.sure = result.sure && shape.sure;
    for (std::size_t k = 0; k < result.dims.size(); ++k) {
      if (result.dims[k].known() && shape.dims[k].known() &&
          result.dims[k].size != shape.dims[k].size) {
        report("joined-shapes", call.call,
               name_of(call.maker) + " stacks tensors of different sizes",
               {{place_of(result.dims, call.call), sizes_text(result.dims)},
                {place_of(shape.dims, call.call), sizes_text(shape.dims)}});
        return {};
      }
    }
  }
  const auto rank = static_cast<std::int64_t>(result.dims.size());
  const std::int64_t at = axis.number.size < 0 ? axis.number.size + rank + 1 : axis.number.size;
  if (at < 0 || at > rank) return {};
  result.dims.insert(result.dims.begin() + at,
                     Dim{static_cast<std::int64_t>(parts.size()), call.call});
  return tensor_thing(std::move(result));
}

Thing ShapeMath::broadcast(const Thing& one, const Thing& other, NodeId node) {
  const bool first = one.is(ThingKind::kTensor), second = other.is(ThingKind::kTensor);
  if (!first && !second) return {};
  if (!first) return one.is(ThingKind::kNumber) ? other : Thing{};
  if (!second) return other.is(ThingKind::kNumber) ? one : Thing{};
  const Shape &a = *one.shape, &b = *other.shape;
  const std::size_t shared = std::min(a.dims.size(), b.dims.size());
  Shape result = a.dims.size() >= b.dims.size() ? a : b;
  result.ranked = a.ranked && b.ranked;
  result.sure = a.sure && b.sure;
  for (std::size_t i = 1; i <= shared; ++i) {
    const Dim &x = a.dims[a.dims.size() - i], &y = b.dims[b.dims.size() - i];
    Dim& out = result.dims[result.dims.size() - i];
    if (x.known() && y.known()) {
      if (x.size != y.size && x.size != 1 && y.size != 1) {
        report("joined-shapes", node,
               name_of(node) + " joins sizes " + std::to_string(x.size) + " and " +
                   std::to_string(y.size) + " of axis -" + std::to_string(i),
               {{x.from != kNoNode ? x.from : node, std::to_string(x.size)},
                {y.from != kNoNode ? y.from : node, std::to_string(y.size)}});
        return {};
      }
      out = x.size == 1 ? y : x;
    } else if (!x.same_as(y) || x.symbol == 0) {
      const Dim& known = x.known() ? x : y;
      out = known.known() && known.size != 1 ? known : Dim{};
    }
  }
  if (!result.ranked && result.dims.size() > shared) {
    const bool longer_ranked = a.dims.size() >= b.dims.size() ? a.ranked : b.ranked;
    if (!longer_ranked || !(a.ranked && b.ranked))
      result.dims.erase(result.dims.begin(),
                        result.dims.end() - static_cast<std::ptrdiff_t>(shared));
  }
  return tensor_thing(std::move(result));
}

Thing ShapeMath::matmul(const Thing& one, const Thing& other, NodeId node) {
  if (!one.is(ThingKind::kTensor) || !other.is(ThingKind::kTensor)) return {};
  const Shape &a = *one.shape, &b = *other.shape;
  if (!a.ranked || !b.ranked || a.dims.size() < 2 || b.dims.size() < 2) return {};
  const Dim &x = a.dims.back(), &y = b.dims[b.dims.size() - 2];
  if (x.known() && y.known() && x.size != y.size) {
    report("joined-shapes", node,
           "a product of matrices joins sizes " + std::to_string(x.size) + " and " +
               std::to_string(y.size),
           {{x.from != kNoNode ? x.from : node, std::to_string(x.size)},
            {y.from != kNoNode ? y.from : node, std::to_string(y.size)}});
    return {};
  }
  if (b.dims.size() != 2 && b.dims.size() != a.dims.size()) return {};
  Shape result = a;
  result.from = node;
  result.dims.back() = b.dims.back();
  return tensor_thing(std::move(result));
}

}  // namespace neutra::source
