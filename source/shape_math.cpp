#include "source/shape_math.h"

#include <algorithm>

namespace neutra::source {
namespace {

std::string text_of(std::int64_t number) { return std::to_string(number); }

}  // namespace

const std::vector<std::string>& shape_conflict_kinds() {
  static const std::vector<std::string> kinds = {"input-size",    "input-rank",    "reshape-size",
                                                 "mixed-samples", "joined-shapes", "empty-output",
                                                 "output-units"};
  return kinds;
}

Thing ShapeMath::setting(const ShapeCall& call, std::string_view name) const {
  if (const auto given = call.settings->find(name); given != call.settings->end())
    return given->second;
  if (!call.settings_known) return {};
  const auto fallback = call.entry->defaults.find(name);
  return fallback != call.entry->defaults.end() ? fallback->second : Thing{};
}

Dim ShapeMath::size(const ShapeCall& call, std::string_view name) const {
  const Thing thing = setting(call, name);
  return thing.is(ThingKind::kNumber) ? thing.number : Dim{};
}

std::optional<bool> ShapeMath::flag(const ShapeCall& call, std::string_view name) const {
  const Thing thing = setting(call, name);
  if (!thing.is_known_number()) return std::nullopt;
  return thing.number.size != 0;
}

ShapeMath::Dims ShapeMath::sizes(const ShapeCall& call, std::string_view name, int count) const {
  const Thing thing = setting(call, name);
  const auto number = static_cast<std::size_t>(count);
  if (thing.is(ThingKind::kNumber)) return Dims(number, thing.number);
  Dims result(number);
  if (!thing.is(ThingKind::kList) || thing.object->opaque || thing.object->items.size() != number)
    return result;
  for (std::size_t i = 0; i < number; ++i)
    if (thing.object->items[i].is(ThingKind::kNumber)) result[i] = thing.object->items[i].number;
  return result;
}

std::string ShapeMath::name_of(NodeId maker) const {
  if (tree_.kind(maker) == NodeKind::kBinary || tree_.kind(maker) == NodeKind::kAugAssign)
    return "the operator";
  const NodeId callee = tree_.kind(maker) == NodeKind::kCall ? tree_[maker].first : maker;
  if (tree_.kind(callee) == NodeKind::kAttribute) return std::string(tree_.name(callee));
  return std::string(tree_.text(callee).substr(0, 40));
}

void ShapeMath::report(std::string_view kind, NodeId node, std::string text,
                       std::vector<std::pair<NodeId, std::string>> places) {
  if (silent > 0) return;
  for (const ShapeConflict& known : conflicts_)
    if (known.node == node && known.kind == kind) return;
  for (const auto& [place, what] : places) {
    const Position position = source_.position(tree_[place].begin);
    text += (place == places.front().first ? " (" : "; ") + what + ": " + source_.name() + ":" +
            std::to_string(position.line) + ":" + std::to_string(position.column);
  }
  conflicts_.push_back({kind, node, text + ")", std::move(places)});
}

void ShapeMath::expect(const ShapeCall& call, const Dim& wanted, const Dim* found,
                       const char* what) {
  if (found == nullptr || !found->known() || !wanted.known() || found->size == wanted.size) return;
  report("input-size", call.maker,
         name_of(call.maker) + " expects " + text_of(wanted.size) + " " + what + ", but " +
             text_of(found->size) + " flow in",
         {{wanted.from != kNoNode ? wanted.from : call.maker, text_of(wanted.size)},
          {found->from != kNoNode ? found->from : call.call, text_of(found->size)}});
}

/// False: a conflict, which is reported.
bool ShapeMath::has_rank(const ShapeCall& call, const Shape& shape, std::size_t least,
                         std::size_t most) {
  const std::size_t rank = shape.dims.size();
  if (!shape.ranked || (rank >= least && rank <= most)) return true;
  if (shape.sure)
    report("input-rank", call.maker,
           name_of(call.maker) + " expects " + text_of(static_cast<std::int64_t>(least)) +
               (most > least ? " or more" : "") + " axes, but " +
               text_of(static_cast<std::int64_t>(rank)) + " flow in",
           {{call.maker, "expected"}, {shape.from != kNoNode ? shape.from : call.call, "given"}});
  return false;
}

Thing ShapeMath::list(const std::vector<Thing>& items) {
  lists_.push_back(std::make_unique<ShapeObject>());
  lists_.back()->items = items;
  Thing thing;
  thing.kind = ThingKind::kList;
  thing.object = lists_.back().get();
  return thing;
}

Thing ShapeMath::of_sizes(const std::vector<Thing>& sizes, NodeId from) {
  Shape shape;
  shape.ranked = shape.sure = true;
  shape.from = from;
  for (const Thing& size : sizes) {
    Dim dim = size.is(ThingKind::kNumber) ? size.number : Dim{};
    if (dim.known() && dim.size < 0) dim = {};
    if (dim.known() && dim.from == kNoNode) dim.from = from;
    if (!dim.known() && dim.symbol == 0) dim = fresh();
    shape.dims.push_back(dim);
  }
  return tensor_thing(std::move(shape));
}

namespace {

/// Sizes given one by one, or as one list; nullopt: not known how many.
std::optional<std::vector<Thing>> listed(const std::vector<Thing>& things) {
  if (things.size() != 1) return things;
  if (things[0].is(ThingKind::kNumber)) return things;
  if (!things[0].is(ThingKind::kList) || things[0].object->opaque) return std::nullopt;
  return things[0].object->items;
}

std::vector<Thing> without_first(const std::vector<Thing>& things) {
  return {things.begin() + (things.empty() ? 0 : 1), things.end()};
}

}  // namespace

Thing ShapeMath::apply(const ShapeCall& call, const std::vector<Thing>& inputs) {
  switch (call.entry->op) {
    case ShapeOp::kSizes: {
      const auto sizes = listed(inputs);
      return sizes && call.settings_known ? of_sizes(*sizes, call.call) : Thing{};
    }
    case ShapeOp::kOneSize:
    case ShapeOp::kRandint: {
      const auto sizes = listed({setting(call, call.entry->op == ShapeOp::kRandint  ? "size"
                                               : call.entry->arguments[0] == "size" ? "size"
                                                                                    : "shape")});
      return sizes && call.settings_known ? of_sizes(*sizes, call.call) : Thing{};
    }
    case ShapeOp::kKerasInput: {
      Thing sizes = setting(call, "shape");
      const auto listed_sizes = listed({sizes});
      if (!listed_sizes || sizes.is(ThingKind::kNumber)) return {};
      std::vector<Thing> all{Thing{}};
      all.insert(all.end(), listed_sizes->begin(), listed_sizes->end());
      return of_sizes(all, call.call);
    }
    case ShapeOp::kOneHot: {
      const Dim units = size(call, "num_classes");
      if (!units.known()) return {};
      Thing number;
      number.kind = ThingKind::kNumber;
      number.number = units;
      return of_sizes({Thing{}, number}, call.call);
    }
    case ShapeOp::kConcatenate:
    case ShapeOp::kStack:
    case ShapeOp::kKerasConcatenate:
    case ShapeOp::kKerasMerge: {
      if (inputs.empty() || !inputs[0].is(ThingKind::kList) || inputs[0].object->opaque) return {};
      const std::vector<Thing>& parts = inputs[0].object->items;
      if (call.entry->op == ShapeOp::kStack) return stack(call, parts);
      if (call.entry->op == ShapeOp::kKerasMerge) return keras_merge(call, parts);
      return concatenate(call, parts, call.entry->op == ShapeOp::kKerasConcatenate);
    }
    default:
      break;
  }
  Shape shape;
  if (!inputs.empty() && inputs[0].is(ThingKind::kTensor)) {
    shape = *inputs[0].shape;
  } else if (!inputs.empty() && !inputs[0].is(ThingKind::kUnknown)) {
    return {};
  } else if (call.entry->op == ShapeOp::kSame || call.entry->keras) {
    return {};
  }
  if (call.entry->keras) return apply_keras(call, shape);
  return call.entry->op >= ShapeOp::kReshape ? apply_view(call, shape, inputs)
                                             : apply_layer(call, shape);
}

Thing ShapeMath::apply_layer(const ShapeCall& call, const Shape& input) {
  switch (call.entry->op) {
    case ShapeOp::kSame:
      return tensor_thing(input);
    case ShapeOp::kLinear:
      return linear(call, input);
    case ShapeOp::kConv:
    case ShapeOp::kConvTranspose:
    case ShapeOp::kPool:
      return window(call, input);
    case ShapeOp::kAdaptivePool:
      return adaptive_pool(call, input);
    case ShapeOp::kBatchNorm:
    case ShapeOp::kGroupNorm:
      return norm(call, input);
    case ShapeOp::kLayerNorm:
      return layer_norm(call, input);
    case ShapeOp::kRecurrent:
    case ShapeOp::kCell:
      return recurrent(call, input);
    case ShapeOp::kEmbedding:
      return embedding(call, input);
    case ShapeOp::kAttention:
      expect(call, size(call, "embed_dim"), input.at(-1), "features");
      return list({tensor_thing(input), Thing{}});
    case ShapeOp::kSameWidth:
      expect(call, size(call, "d_model"), input.at(-1), "features");
      return tensor_thing(input);
    case ShapeOp::kFlatten:
      return flatten(call, input);
    case ShapeOp::kPad:
      return pad(call, input);
    case ShapeOp::kPixelShuffle:
    case ShapeOp::kUpsample:
      return upsample(call, input);
    default:
      return {};
  }
}

Thing ShapeMath::apply_view(const ShapeCall& call, const Shape& input,
                            const std::vector<Thing>& inputs) {
  switch (call.entry->op) {
    case ShapeOp::kReshape: {
      const auto shape = call.settings->find("shape");
      const auto sizes =
          shape != call.settings->end() ? listed({shape->second}) : listed(without_first(inputs));
      return sizes ? reshape(call, input, *sizes) : Thing{};
    }
    case ShapeOp::kSqueeze:
    case ShapeOp::kUnsqueeze:
      return squeeze(call, input);
    case ShapeOp::kPermute: {
      const auto dims = call.settings->find("dims");
      const auto axes =
          dims != call.settings->end() ? listed({dims->second}) : listed(without_first(inputs));
      return axes ? permute(input, *axes) : Thing{};
    }
    case ShapeOp::kTranspose:
      return transpose(call, input);
    case ShapeOp::kReduce:
      return reduce(call, input);
    case ShapeOp::kBroadcast:
      return broadcast(tensor_thing(input), setting(call, "other"), call.call);
    case ShapeOp::kMatmul:
      return matmul(tensor_thing(input), setting(call, "other"), call.call);
    case ShapeOp::kSize: {
      Thing sizes = tensor_thing(input);
      sizes.kind = ThingKind::kSizes;
      const Thing axis = setting(call, "dim");
      if (inputs.size() < 2 && call.settings->empty()) return sizes;
      if (!axis.is_known_number()) return {};
      Thing number;
      number.kind = ThingKind::kNumber;
      if (const Dim* dim = input.at(axis.number.size)) number.number = *dim;
      if (!input.ranked && axis.number.size == 0) number.number = input.lead;
      return number;
    }
    case ShapeOp::kDim:
      return input.ranked && input.sure
                 ? number_thing(static_cast<std::int64_t>(input.dims.size()), call.call)
                 : Thing{};
    default:
      return {};
  }
}

void ShapeMath::compare_units(NodeId call, const Dim& output, const Dim& labels) {
  if (!output.known() || !labels.known() || output.size == labels.size) return;
  report("output-units", call,
         "the model gives " + text_of(output.size) + " outputs, but the labels have " +
             text_of(labels.size) + " classes",
         {{output.from != kNoNode ? output.from : call, text_of(output.size)},
          {labels.from != kNoNode ? labels.from : call, text_of(labels.size)}});
}

}  // namespace neutra::source
