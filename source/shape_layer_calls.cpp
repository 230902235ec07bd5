// Layers of libraries: made, put in chains, applied.

#include <algorithm>

#include "source/shape_flow.h"

namespace neutra::source {

Thing ShapeFlow::make_layer(NodeId call, const ShapeEntry& entry, const Arguments& arguments) {
  Thing layer;
  layer.kind = ThingKind::kLayer;
  layer.object = make_object(call);
  layer.object->entry = &entry;
  layer.object->keras = entry.keras;
  layer.object->opaque = arguments.open;
  for (std::size_t i = 0; i < arguments.positional.size() && i < entry.arguments.size(); ++i)
    layer.object->attributes[entry.arguments[i]] = arguments.positional[i];
  for (const auto& [name, value] : arguments.named) layer.object->attributes[name] = value;
  return layer;
}

Thing ShapeFlow::make_chain(NodeId call, const Arguments& arguments, bool keras) {
  Thing chain;
  chain.kind = ThingKind::kChain;
  chain.object = make_object(call);
  chain.object->keras = keras;
  chain.object->opaque = arguments.open;
  std::vector<Thing> items = arguments.positional;
  const Thing* first = arguments.find("layers", 0);
  if (first != nullptr && first->is(ThingKind::kList)) {
    const auto listed = items_of(*first);
    if (!listed) chain.object->opaque = true;
    items = listed.value_or(std::vector<Thing>{});
    // OrderedDict([("name", layer), ...])
    for (Thing& item : items)
      if (item.is(ThingKind::kList) && item.object->items.size() == 2)
        item = Thing(item.object->items[1]);
  }
  if (!keras) {
    chain.object->items = std::move(items);
    if (!chain.object->opaque) apply(call, chain, {tensor_thing({})});  // whatever flows in
    return chain;
  }
  for (const Thing& item : items) keras_add(call, *chain.object, item);
  return chain;
}

/// What the first layer of a Keras Sequential says that its input is.
Thing ShapeFlow::keras_first_input(const Thing& layer) {
  if (layer.is(ThingKind::kTensor)) return layer;  // Input(...)
  if (layer.is(ThingKind::kChain) && layer.object->keras) {
    const auto in = layer.object->attributes.find("in");
    return in == layer.object->attributes.end() ? Thing{} : in->second;
  }
  if (!layer.is(ThingKind::kLayer) || layer.object->opaque) return {};
  const auto& settings = layer.object->attributes;
  const auto listed = [&](const char* name) -> std::optional<std::vector<Thing>> {
    const auto found = settings.find(name);
    return found == settings.end() || found->second.is(ThingKind::kNumber)
               ? std::nullopt
               : items_of(found->second);
  };
  NodeId from = layer.object->node;
  for (NodeId child = tree_[from].first; child != kNoNode; child = tree_[child].next)
    if (tree_.kind(child) == NodeKind::kKeyword && tree_.name(child).ends_with("shape"))
      from = child;
  for (const char* name : {"input_shape", "shape"}) {
    if (const auto sizes = listed(name)) {
      std::vector<Thing> all{Thing{}};
      all.insert(all.end(), sizes->begin(), sizes->end());
      return math_.of_sizes(all, from);
    }
  }
  if (const auto sizes = listed("batch_input_shape")) return math_.of_sizes(*sizes, from);
  const auto width = settings.find("input_dim");
  if (layer.object->entry->op == ShapeOp::kKerasDense && width != settings.end())
    return math_.of_sizes({Thing{}, width->second}, layer.object->node);
  if (layer.object->entry->op == ShapeOp::kKerasEmbedding) {
    const auto length = settings.find("input_length");
    Shape shape = *math_
                       .of_sizes({Thing{}, length == settings.end() ? Thing{} : length->second},
                                 layer.object->node)
                       .shape;
    shape.sure = length != settings.end();
    return tensor_thing(std::move(shape));
  }
  return {};
}

void ShapeFlow::keras_add(NodeId call, ShapeObject& chain, const Thing& layer) {
  Thing out;
  const bool first = chain.items.empty() && !chain.opaque;
  if (first) {
    out = keras_first_input(layer);
    set(chain, "in", out);
  } else if (const auto before = chain.attributes.find("out"); before != chain.attributes.end()) {
    out = before->second;
  }
  std::vector<Thing> items = chain.items;
  items.push_back(layer);
  set_items(chain, std::move(items), chain.opaque);
  if (!layer.is(ThingKind::kTensor)) out = apply(call, layer, {out});
  set(chain, "out", out);
}

/// Do the labels that `fit` gets have as many classes as the model has outputs?
void ShapeFlow::keras_fit(NodeId call, const Thing& model, const Arguments& arguments) {
  const Thing* labels = arguments.find("y", 1);
  const auto out = model.object->attributes.find("out");
  if (labels == nullptr || out == model.object->attributes.end() ||
      !out->second.is(ThingKind::kTensor) || !labels->is(ThingKind::kTensor) ||
      !labels->shape->sure || !out->second.shape->sure || labels->shape->dims.size() != 2 ||
      out->second.shape->dims.size() != 2)
    return;
  math_.compare_units(call, out->second.shape->dims[1], labels->shape->dims[1]);
}

Thing ShapeFlow::apply(NodeId call, const Thing& layer, const std::vector<Thing>& inputs) {
  if (!tick()) return {};
  switch (layer.kind) {
    case ThingKind::kLayer:
      return math_.apply({layer.object->entry, &layer.object->attributes, !layer.object->opaque,
                          layer.object->node, call},
                         inputs);
    case ThingKind::kChain: {
      if (layer.object->opaque) return {};
      Thing value = inputs.empty() ? Thing{} : inputs[0];
      const std::vector<Thing> items = layer.object->items;
      for (const Thing& item : items)
        if (!item.is(ThingKind::kTensor)) value = apply(call, item, {value});
      return value;
    }
    case ThingKind::kInstance: {
      Arguments arguments;
      arguments.positional = inputs;
      return call_thing(call, layer, arguments);
    }
    default:
      return {};
  }
}

/// A function or method of shapes.json. `base`: the object of a method.
Thing ShapeFlow::apply_entry(NodeId call, const ShapeEntry& entry, const Arguments& arguments,
                             const Thing* base) {
  std::unordered_map<std::string_view, Thing> settings;
  for (std::size_t i = 0; i < arguments.positional.size() && i < entry.arguments.size(); ++i)
    settings[entry.arguments[i]] = arguments.positional[i];
  for (const auto& [name, value] : arguments.named) settings[name] = value;
  std::vector<Thing> inputs;
  if (base != nullptr) inputs.push_back(*base);
  inputs.insert(inputs.end(), arguments.positional.begin(), arguments.positional.end());
  if (inputs.empty() && !entry.arguments.empty()) {
    const auto named = settings.find(entry.arguments.front());
    if (named != settings.end()) inputs.push_back(named->second);
  }
  if (inputs.empty())
    if (const auto sizes = settings.find("size"); sizes != settings.end())
      inputs.push_back(sizes->second);
  const bool counts = entry.op == ShapeOp::kReshape || entry.op == ShapeOp::kPermute;
  if (counts && arguments.open) return {};
  return math_.apply({&entry, &settings, !arguments.open, call, call}, inputs);
}

}  // namespace neutra::source
