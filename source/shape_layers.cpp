// The arithmetic of layers with weights, of windows and of what leaves sizes as they are.

#include <algorithm>

#include "source/shape_math.h"

namespace neutra::source {
namespace {

constexpr std::int64_t kMostSize = std::int64_t{1} << 40;

/// A product that stays in range; unknown otherwise.
Dim product(const Dim& one, const Dim& other, NodeId from) {
  if (!one.known() || !other.known() || one.size < 0 || other.size < 0 || one.size > kMostSize ||
      other.size > kMostSize || (other.size > 0 && one.size > kMostSize / other.size))
    return {};
  return {one.size * other.size, from};
}

}  // namespace

Thing ShapeMath::linear(const ShapeCall& call, Shape shape) {
  expect(call, size(call, "in_features"), shape.at(-1), "features");
  Dim out = size(call, "out_features");
  if (out.known() && out.from == kNoNode) out.from = call.maker;
  if (shape.dims.empty()) shape.dims.resize(1);
  shape.dims.back() = out;
  return tensor_thing(std::move(shape));
}

Dim ShapeMath::window_size(const ShapeCall& call, const Dim& input, std::size_t axis) {
  const bool keras = call.entry->last;
  const bool pool = call.entry->op == ShapeOp::kPool;
  const int count = call.entry->spatial;
  const Dim kernel = sizes(call, keras && pool ? "pool_size" : "kernel_size", count)[axis];
  const Thing given = setting(call, keras ? "strides" : "stride");
  const Dim stride =
      given.is(ThingKind::kNone) ? kernel : sizes(call, keras ? "strides" : "stride", count)[axis];
  const Dim dilation =
      keras && pool ? Dim{1} : sizes(call, keras ? "dilation_rate" : "dilation", count)[axis];
  const Thing padding = setting(call, "padding");
  if (!input.known() || !stride.known() || stride.size <= 0) return {};
  if (padding.is(ThingKind::kText) && padding.text == "same")
    return stride.size == 1 ? input : Dim{(input.size + stride.size - 1) / stride.size, call.call};
  const Dim pads = padding.is(ThingKind::kText) && padding.text == "valid"
                       ? Dim{0}
                       : sizes(call, "padding", count)[axis];
  if (!kernel.known() || !dilation.known() || !pads.known()) return {};
  const std::int64_t span = dilation.size * (kernel.size - 1) + 1;
  if (call.entry->op == ShapeOp::kConvTranspose) {
    const Dim extra = sizes(call, "output_padding", count)[axis];
    if (!extra.known()) return {};
    return {(input.size - 1) * stride.size - 2 * pads.size + span + extra.size, call.call};
  }
  const std::int64_t room = input.size + 2 * pads.size - span;
  if (room < 0) {
    report("empty-output", call.maker,
           name_of(call.maker) + " has a window of " + std::to_string(span) + ", but only " +
               std::to_string(input.size + 2 * pads.size) + " flow in",
           {{kernel.from != kNoNode ? kernel.from : call.maker, std::to_string(span)},
            {input.from != kNoNode ? input.from : call.call, std::to_string(input.size)}});
    return {};
  }
  std::int64_t out = room / stride.size + 1;
  if (pool && !keras) {
    const std::optional<bool> ceil = flag(call, "ceil_mode");
    if (!ceil) return {};
    if (*ceil) {
      out = (room + stride.size - 1) / stride.size + 1;
      if ((out - 1) * stride.size >= input.size + pads.size) --out;
    }
  }
  return {out, out == input.size ? input.from : call.call};
}

/// Convolutions and pools.
Thing ShapeMath::window(const ShapeCall& call, Shape shape) {
  const bool pool = call.entry->op == ShapeOp::kPool;
  const bool last = call.entry->last;
  const auto spatial = static_cast<std::size_t>(call.entry->spatial);
  if (last) {
    if (const Thing form = setting(call, "data_format");
        form.is(ThingKind::kUnknown) ? call.settings->contains("data_format")
                                     : !form.is(ThingKind::kNone) && form.text != "channels_last")
      return {};
  }
  if (!has_rank(call, shape, last ? spatial + 2 : spatial + 1, spatial + 2)) return {};
  if (pool && !last) {
    const std::optional<bool> indices = flag(call, "return_indices");
    if (!indices || *indices) return {};
  }
  if (!shape.ranked && !pool) {  // as is usual: with a batch
    Shape usual;
    usual.ranked = true;
    usual.dims.resize(spatial + 2);
    const std::size_t known = std::min(shape.dims.size(), spatial + 1);
    std::copy_backward(shape.dims.end() - static_cast<std::ptrdiff_t>(known), shape.dims.end(),
                       usual.dims.end());
    usual.dims[0] = shape.lead.symbol != 0 ? shape.lead : fresh();
    shape = std::move(usual);
  }
  if (shape.dims.size() < spatial + (shape.ranked ? 1 : 0))
    shape.dims.insert(shape.dims.begin(), spatial - shape.dims.size(), Dim{});
  const std::size_t channel =
      shape.dims.size() - (last ? 1 : std::min(shape.dims.size(), spatial + 1));
  const std::size_t first = shape.dims.size() - spatial - (last ? 1 : 0);
  if (!pool) {
    if (!last) expect(call, size(call, "in_channels"), &shape.dims[channel], "channels");
    Dim out = size(call, last ? "filters" : "out_channels");
    if (out.known() && out.from == kNoNode) out.from = call.maker;
    shape.dims[channel] = out;
  }
  for (std::size_t i = 0; i < spatial; ++i)
    shape.dims[first + i] = window_size(call, shape.dims[first + i], i);
  return tensor_thing(std::move(shape));
}

Thing ShapeMath::adaptive_pool(const ShapeCall& call, Shape shape) {
  const auto spatial = static_cast<std::size_t>(call.entry->spatial);
  if (!has_rank(call, shape, spatial + 1, spatial + 2)) return {};
  const Dims out = sizes(call, "output_size", call.entry->spatial);
  const Thing given = setting(call, "output_size");
  if (shape.dims.size() < spatial)
    shape.dims.insert(shape.dims.begin(), spatial - shape.dims.size(), Dim{});
  for (std::size_t i = 0; i < spatial; ++i) {
    const bool keeps = given.is(ThingKind::kList) && !given.object->opaque &&
                       given.object->items.size() == spatial &&
                       given.object->items[i].is(ThingKind::kNone);
    Dim& dim = shape.dims[shape.dims.size() - spatial + i];
    if (!keeps) dim = out[i];
  }
  return tensor_thing(std::move(shape));
}

/// Batch and group normalisation.
Thing ShapeMath::norm(const ShapeCall& call, Shape shape) {
  const bool batch = call.entry->op == ShapeOp::kBatchNorm;
  const auto spatial = static_cast<std::size_t>(call.entry->spatial);
  const Dim wanted = size(call, batch ? "num_features" : "num_channels");
  if (batch && !has_rank(call, shape, spatial == 1 ? 2 : spatial + 2, spatial + 2)) return {};
  if (shape.ranked && shape.dims.size() > 1) {
    expect(call, wanted, &shape.dims[1], "channels");
    if (!shape.dims[1].known()) shape.dims[1] = wanted;
  } else if (!shape.ranked && spatial > 1 && shape.dims.size() > spatial) {
    expect(call, wanted, shape.at(-static_cast<std::int64_t>(spatial) - 1), "channels");
  }
  return tensor_thing(std::move(shape));
}

Thing ShapeMath::layer_norm(const ShapeCall& call, const Shape& shape) {
  const Thing wanted = setting(call, "normalized_shape");
  if (wanted.is(ThingKind::kNumber)) {
    expect(call, wanted.number, shape.at(-1), "features");
  } else if (wanted.is(ThingKind::kList) && !wanted.object->opaque) {
    const auto count = static_cast<std::int64_t>(wanted.object->items.size());
    for (std::int64_t i = 1; i <= count; ++i) {
      const Thing& one = wanted.object->items[static_cast<std::size_t>(count - i)];
      if (one.is(ThingKind::kNumber)) expect(call, one.number, shape.at(-i), "features");
    }
  }
  return tensor_thing(shape);
}

Thing ShapeMath::recurrent(const ShapeCall& call, Shape shape) {
  expect(call, size(call, "input_size"), shape.at(-1), "features");
  Dim out = size(call, "hidden_size");
  if (out.known() && out.from == kNoNode) out.from = call.maker;
  const Thing states = call.entry->defaults.at("states");
  if (call.entry->op == ShapeOp::kCell) {
    if (shape.dims.empty()) shape.dims.resize(1);
    shape.dims.back() = out;
    const Thing hidden = tensor_thing(shape);
    return states.number.size == 2 ? list({hidden, hidden}) : hidden;
  }
  const std::optional<bool> both = flag(call, "bidirectional");
  const std::optional<bool> batch_first = flag(call, "batch_first");
  const Dim projected = size(call, "proj_size");
  const Dim layers = size(call, "num_layers");
  if (!projected.known()) out = {};
  if (projected.known() && projected.size != 0) out = projected;
  const Dim width = !both ? Dim{} : *both ? product(out, Dim{2}, call.maker) : out;
  if (!shape.ranked) {
    Shape usual;
    usual.ranked = true;
    usual.dims.assign(3, Dim{});
    usual.dims[0] = shape.lead.symbol != 0 ? shape.lead : fresh();
    if (const Dim* one = shape.at(-2)) usual.dims[1] = *one;
    shape = std::move(usual);
  }
  if (!has_rank(call, shape, 2, 3)) return {};
  Shape hidden = shape;
  hidden.dims.back() = out;
  Dim& first = hidden.dims.front();
  if (shape.dims.size() == 3)
    hidden.dims[1] = !batch_first ? Dim{} : shape.dims[*batch_first ? 0 : 1];
  first = !both ? Dim{} : product(layers, Dim{*both ? 2 : 1}, call.maker);
  shape.dims.back() = width;
  const Thing state = tensor_thing(std::move(hidden));
  return list(
      {tensor_thing(std::move(shape)), states.number.size == 2 ? list({state, state}) : state});
}

Thing ShapeMath::embedding(const ShapeCall& call, Shape shape) {
  Dim out = size(call, call.entry->keras ? "output_dim" : "embedding_dim");
  if (out.known() && out.from == kNoNode) out.from = call.maker;
  shape.dims.push_back(out);
  shape.from = call.call;
  return tensor_thing(std::move(shape));
}

Thing ShapeMath::flatten(const ShapeCall& call, const Shape& shape) {
  const Thing start = setting(call, "start_dim"), end = setting(call, "end_dim");
  if (!start.is_known_number() || !end.is_known_number()) return {};
  if (!shape.ranked) return {};
  const auto rank = static_cast<std::int64_t>(shape.dims.size());
  const std::int64_t from = start.number.size < 0 ? start.number.size + rank : start.number.size;
  const std::int64_t to = end.number.size < 0 ? end.number.size + rank : end.number.size;
  if (from < 0 || to >= rank) return {};
  if (from >= to) {
    Shape same = shape;
    if (call.entry->keras && rank == 1) same.dims.push_back(Dim{1, call.call});
    return tensor_thing(std::move(same));
  }
  Shape result;
  result.ranked = true;
  result.sure = shape.sure;
  result.from = call.call;
  Dim all{1};
  for (std::int64_t i = 0; i < rank; ++i) {
    const Dim& dim = shape.dims[static_cast<std::size_t>(i)];
    if (i < from || i > to) {
      result.dims.push_back(dim);
    } else {
      all = product(all, dim, call.call);
      if (i == to) result.dims.push_back(all);
    }
  }
  return tensor_thing(std::move(result));
}

Thing ShapeMath::upsample(const ShapeCall& call, Shape shape) {
  if (!shape.ranked || shape.dims.size() < 3) return {};
  if (call.entry->op == ShapeOp::kPixelShuffle) {
    const Dim factor = size(call, "upscale_factor");
    if (!factor.known() || factor.size <= 0 || shape.dims.size() != 4) return {};
    Dim& channels = shape.dims[1];
    const std::int64_t square = factor.size * factor.size;
    channels = channels.known() && channels.size % square == 0
                   ? Dim{channels.size / square, call.call}
                   : Dim{};
    for (std::size_t i = 2; i < 4; ++i) shape.dims[i] = product(shape.dims[i], factor, call.call);
    return tensor_thing(std::move(shape));
  }
  const bool keras = call.entry->last;
  const auto spatial = static_cast<int>(shape.dims.size()) - 2;
  const Thing whole = setting(call, "size");
  const Dims factors = sizes(call, keras ? "size" : "scale_factor", spatial);
  const Dims targets = sizes(call, "size", spatial);
  for (int i = 0; i < spatial; ++i) {
    Dim& dim = shape.dims[static_cast<std::size_t>(i) + (keras ? 1 : 2)];
    dim = keras || whole.is(ThingKind::kNone)
              ? product(dim, factors[static_cast<std::size_t>(i)], call.call)
              : targets[static_cast<std::size_t>(i)];
  }
  return tensor_thing(std::move(shape));
}

Thing ShapeMath::pad(const ShapeCall& call, Shape shape) {
  const auto spatial = static_cast<std::size_t>(call.entry->spatial);
  if (shape.dims.size() < spatial) return {};
  const Dims pads = sizes(call, "padding", 2 * call.entry->spatial);
  for (std::size_t i = 0; i < spatial; ++i) {
    Dim& dim = shape.dims[shape.dims.size() - 1 - i];
    const Dim before = pads[2 * i], after = pads[2 * i + 1];
    dim = dim.known() && before.known() && after.known()
              ? Dim{dim.size + before.size + after.size, call.call}
              : Dim{};
  }
  return tensor_thing(std::move(shape));
}

}  // namespace neutra::source
