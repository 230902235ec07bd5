#include "source/keras_model.h"

namespace neutra::source {
namespace {

/// The call that makes a layer: of `Dense(3)` itself, of a name what it was given.
NodeId maker(const Analysis& analysis, NodeId layer) {
  if (layer == kNoNode) return kNoNode;
  NodeId found = kNoNode;
  for (const Value& value : analysis.values().of(layer)) {
    if (value.kind != ValueKind::kInstance || found != kNoNode) return kNoNode;
    found = value.node;
  }
  return found;
}

/// Of `Dense(3)(x)`: Dense(3).
NodeId maker_of_output(const Analysis& analysis, NodeId output) {
  const SyntaxTree& tree = analysis.tree();
  const std::vector<NodeId> origins = analysis.tracer().origins(output);
  if (origins.size() != 1 || tree.kind(origins.front()) != NodeKind::kCall) return kNoNode;
  return maker(analysis, tree[origins.front()].first);
}

}  // namespace

NodeId last_keras_layer(const Analysis& analysis, NodeId call) {
  const SyntaxTree& tree = analysis.tree();
  const Values& values = analysis.values();
  const NodeId model = receiver(tree, call);
  if (model == kNoNode) return kNoNode;
  NodeId added = kNoNode;
  for (const NodeId other : values.calls()) {
    if (tree[other].begin >= tree[call].begin) continue;
    const NodeId object = receiver(tree, other);
    if (object == kNoNode || tree.name(tree[other].first) != "add" ||
        !same_object(object, model, values))
      continue;
    if (added == kNoNode || tree[other].begin > tree[added].begin) added = other;
  }
  if (added != kNoNode) return maker(analysis, values.argument(added, "layer", 0));
  const NodeId made = maker(analysis, model);
  if (made == kNoNode) return kNoNode;
  for (const Value& value : values.of(tree[made].first)) {
    if (value.kind != ValueKind::kPath) continue;
    if (value.path == "keras.Sequential") {
      const NodeId list = values.argument(made, "layers", 0);
      if (list != kNoNode && tree.kind(list) == NodeKind::kList)
        return maker(analysis, tree[list].last);
    }
    if (value.path == "keras.Model")
      return maker_of_output(analysis, values.argument(made, "outputs", 1));
  }
  return kNoNode;
}

}  // namespace neutra::source
