#include "source/trace.h"

#include <algorithm>

namespace neutra::source {
namespace {

constexpr int kDeepest = 48;
constexpr std::size_t kMost = 200;  ///< nodes that one question may look at

}  // namespace

bool Tracer::Walk::first_visit(NodeId node) {
  if (seen.size() >= kMost || std::find(seen.begin(), seen.end(), node) != seen.end()) return false;
  seen.push_back(node);
  return true;
}

std::vector<NodeId> Tracer::origins(NodeId expression) const {
  Walk walk;
  origin(expression, 0, 0, walk);
  return walk.found;
}

void Tracer::origin(NodeId node, std::uint32_t path, int depth, Walk& walk) const {
  if (node == kNoNode || depth > kDeepest || !walk.first_visit(node)) return;
  switch (tree_.kind(node)) {
    case NodeKind::kName: {
      const DefId definition = values_.graph().definition(node);
      bool any = false;
      if (definition != kNoDef) {
        for (const DefId id : values_.graph().reaching(definition)) {
          const Def& def = values_.graph().def(id);
          any = true;
          if (def.kind == DefKind::kValue || def.kind == DefKind::kElement) {
            const NodeId part =
                def.kind == DefKind::kValue ? part_of(tree_, def.value, def.path) : kNoNode;
            origin(part != kNoNode ? part : def.value, part != kNoNode ? 0 : def.path, depth + 1,
                   walk);
          } else if (def.kind == DefKind::kParameter) {
            const NodeId function = tree_[tree_[def.node].parent].parent;
            const std::vector<NodeId>& calls = values_.callers(function);
            bool given = false;
            for (std::size_t i = 0; i < std::min<std::size_t>(calls.size(), 4); ++i) {
              const NodeId argument = values_.argument_for(calls[i], function, def.node);
              given = given || argument != kNoNode;
              origin(argument, 0, depth + 1, walk);
            }
            if (!given) walk.found.push_back(def.node);
          } else if (def.kind == DefKind::kAugmented) {
            walk.found.push_back(def.node);
          } else {
            walk.found.push_back(node);
          }
        }
      }
      if (!any) walk.found.push_back(node);
      return;
    }
    case NodeKind::kAttribute: {
      const std::string_view name = tree_.name(node);
      bool any = false;
      for (const Value& base : std::vector<Value>(values_.of(tree_[node].first))) {
        if (base.kind != ValueKind::kLocalInstance) continue;
        for (const NodeId value : values_.attribute(base.node, name)) {
          origin(value, 0, depth + 1, walk);
          any = true;
        }
      }
      if (any) return;
      if (values_.vocabulary().keeps_value(name))
        return origin(tree_[node].first, 0, depth + 1, walk);
      walk.found.push_back(node);
      return;
    }
    case NodeKind::kSubscript:
    case NodeKind::kNamed:
    case NodeKind::kAwait:
      return origin(tree_.kind(node) == NodeKind::kSubscript ? tree_[node].first : tree_[node].last,
                    0, depth + 1, walk);
    case NodeKind::kConditional:
      origin(tree_[node].first, path, depth + 1, walk);
      return origin(tree_[node].last, path, depth + 1, walk);
    case NodeKind::kOr:
    case NodeKind::kAnd:
      for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
        origin(child, path, depth + 1, walk);
      return;
    case NodeKind::kTuple:
    case NodeKind::kList:
      if (const NodeId part = path != 0 ? part_of(tree_, node, path) : tree_[node].first;
          part != kNoNode)
        return origin(part, 0, depth + 1, walk);
      walk.found.push_back(node);
      return;
    case NodeKind::kCall:
      return origin_of_call(node, path, depth, walk);
    default:
      walk.found.push_back(node);
  }
}

void Tracer::origin_of_call(NodeId node, std::uint32_t path, int depth, Walk& walk) const {
  const NodeId callee = tree_[node].first;
  bool followed = false;
  const std::vector<Value> values = values_.of(callee);
  for (const Value& value : values) {
    if (value.kind == ValueKind::kPath && values_.vocabulary().keeps_first_argument(value.path)) {
      const NodeId argument = values_.argument(node, "input", 0);
      if (argument == kNoNode) continue;
      origin(argument, 0, depth + 1, walk);
      followed = true;
    } else {
      followed = origin_of_value(value, path, depth, walk) || followed;
    }
  }
  if (followed) return;
  if (callee != kNoNode && tree_.kind(callee) == NodeKind::kAttribute) {
    const NodeId object = tree_[callee].first;
    if (values.empty() && values_.vocabulary().keeps_value(tree_.name(callee)))
      return origin(object, path, depth + 1, walk);
    // model.forward(x), where `forward` is that of a library's class
    if (tree_.name(callee) == "forward") {
      for (const Value& value : std::vector<Value>(values_.of(object)))
        followed = origin_of_value(value, path, depth, walk) || followed;
      if (followed) return;
    }
  }
  walk.found.push_back(node);
}

/// Of calling an object or function of the text, or a Sequential.
bool Tracer::origin_of_value(const Value& value, std::uint32_t path, int depth, Walk& walk) const {
  NodeId function = kNoNode;
  if (value.kind == ValueKind::kFunction || value.kind == ValueKind::kMethod) {
    function = value.node;
  } else if (value.kind == ValueKind::kLocalInstance) {
    function = values_.method(value.node, "forward");
    if (function == kNoNode) function = values_.method(value.node, "call");
    if (function == kNoNode) function = values_.method(value.node, "__call__");
  } else if (value.kind == ValueKind::kInstance && value.path == "torch.nn.Sequential") {
    bool any = false;
    for (const NodeId last : last_layers(value.node)) {
      for (const Value& layer : std::vector<Value>(values_.of(last))) {
        if (layer.kind == ValueKind::kInstance && layer.path != "torch.nn.Sequential") {
          if (walk.first_visit(layer.node)) walk.found.push_back(layer.node);
          any = true;
        } else if (depth < kDeepest) {
          any = origin_of_value(layer, path, depth + 1, walk) || any;
        }
      }
    }
    return any;
  }
  if (function == kNoNode)
    return value.kind == ValueKind::kLocalInstance && layers_of(value.node, walk);
  const std::vector<NodeId>& results = values_.returns(function);
  if (results.empty()) return false;
  for (const NodeId result : results) origin(result, path, depth + 1, walk);
  return true;
}

/// What the call of nn.Sequential gets last, or gets later by the name that it is assigned to.
std::vector<NodeId> Tracer::last_layers(NodeId sequential) const {
  std::vector<NodeId> found;
  const NodeId parent = tree_[sequential].parent;
  if (tree_.kind(parent) == NodeKind::kAssign && tree_[parent].first != sequential &&
      last_additions(tree_[parent].first, kNoNode, found))
    return found;
  const NodeId last = tree_[sequential].last;
  if (last != tree_[sequential].first) last_elements(last, 0, found);
  return found;
}

/// The last element of a list that is written, named, unpacked or put together.
void Tracer::last_elements(NodeId list, int depth, std::vector<NodeId>& found) const {
  if (list == kNoNode || depth > 8) return;
  switch (tree_.kind(list)) {
    case NodeKind::kStarred:
    case NodeKind::kBinary:  // [a] * n + [b]
      return last_elements(tree_[list].last, depth + 1, found);
    case NodeKind::kTuple:
    case NodeKind::kList:
      if (tree_[list].last != kNoNode) last_elements(tree_[list].last, depth + 1, found);
      return;
    case NodeKind::kCall:
      if (values_.last_name(tree_[list].first) == "OrderedDict")
        return last_elements(values_.argument(list, "", 0), depth + 1, found);
      break;
    case NodeKind::kName:
    case NodeKind::kAttribute:
      // Only what is unpacked is a list.
      if (tree_.kind(tree_[list].parent) != NodeKind::kStarred) break;
      if (last_additions(list, list, found)) return;
      for (const NodeId made : made_as(list)) last_elements(made, depth + 1, found);
      return;
    default:
      break;
  }
  found.push_back(list);
}

/// The expressions that a name or an attribute of `self` was given.
std::vector<NodeId> Tracer::made_as(NodeId name) const {
  std::vector<NodeId> result;
  if (tree_.kind(name) == NodeKind::kAttribute) {
    for (const Value& base : std::vector<Value>(values_.of(tree_[name].first)))
      if (base.kind == ValueKind::kLocalInstance)
        for (const NodeId value : values_.attribute(base.node, tree_.name(name)))
          result.push_back(value);
    return result;
  }
  const DefId definition = values_.graph().definition(name);
  if (definition == kNoDef) return result;
  for (const DefId id : values_.graph().reaching(definition))
    if (const Def& def = values_.graph().def(id); def.kind == DefKind::kValue && def.path == 0)
      result.push_back(def.value);
  return result;
}

/// The last thing that is put behind the elements of a name; with those that it may be if that
/// stands under an `if`. `before`: only what stands in front of it.
bool Tracer::last_additions(NodeId name, NodeId before, std::vector<NodeId>& found) const {
  const std::vector<NodeId> all = additions_.elements(name);
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (before != kNoNode && tree_[*one].begin >= tree_[before].begin) continue;
    found.push_back(*one);
    const NodeId branch = tree_.above(*one, {NodeKind::kIf});
    if (branch == kNoNode ||
        (tree_[branch].begin <= tree_[name].begin && tree_[branch].end >= tree_[name].end))
      return true;
  }
  return false;
}

std::vector<NodeId> Tracer::outputs(NodeId object) const {
  Walk walk;
  if (tree_.kind(object) == NodeKind::kFunction) {
    origin_of_value(Value{ValueKind::kFunction, {}, object}, 0, 0, walk);
    return walk.found;
  }
  if (tree_.kind(object) != NodeKind::kClass) {
    for (const Value& value : std::vector<Value>(values_.of(object)))
      origin_of_value(value, 0, 0, walk);
    return walk.found;
  }
  const Value instance{ValueKind::kLocalInstance, {}, object};
  origin_of_value(instance, 0, 0, walk);
  return walk.found;
}

/// Of a model whose `forward` was left out of the text: what it assigns to `self`.
bool Tracer::layers_of(NodeId class_node, Walk& walk) const {
  const std::vector<std::string_view> bases = values_.library_bases(class_node);
  if (std::find(bases.begin(), bases.end(), "torch.nn.Module") == bases.end()) return false;
  const NodeId init = values_.method(class_node, "__init__");
  if (init == kNoNode) return false;
  bool any = false;
  for (const NodeId call : values_.calls()) {
    if (tree_[call].begin < tree_[init].begin || tree_[call].end > tree_[init].end ||
        tree_.kind(tree_[call].parent) != NodeKind::kAssign)
      continue;
    walk.found.push_back(call);
    any = true;
  }
  return any;
}

std::vector<NodeId> Tracer::inputs(NodeId expression) const {
  Walk walk;
  std::vector<NodeId> open{expression};
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (node == kNoNode || !walk.first_visit(node)) continue;
    walk.found.push_back(node);
    for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
      open.push_back(child);
    if (tree_.kind(node) != NodeKind::kName) continue;
    const DefId definition = values_.graph().definition(node);
    if (definition == kNoDef) continue;
    for (const DefId id : values_.graph().reaching(definition)) {
      const Def& def = values_.graph().def(id);
      if (def.kind == DefKind::kValue || def.kind == DefKind::kAugmented) open.push_back(def.value);
    }
  }
  return walk.found;
}

bool Tracer::is_unknown(NodeId origin) const {
  switch (tree_.kind(origin)) {
    case NodeKind::kName:
    case NodeKind::kParameter:
      return true;
    case NodeKind::kAttribute:
      return values_.of(origin).empty();
    case NodeKind::kCall:
      return values_.of(tree_[origin].first).empty();
    default:
      return false;
  }
}

std::vector<NodeId> Tracer::sinks(NodeId expression) const {
  Walk walk;
  sink(expression, walk);
  return walk.found;
}

std::vector<NodeId> Tracer::sinks_of_variable(NodeId name) const {
  Walk walk;
  const DefId definition =
      tree_.kind(name) == NodeKind::kName ? values_.graph().definition(name) : kNoDef;
  if (definition == kNoDef) return walk.found;
  for (const DefId id : values_.graph().reaching(definition))
    for (const NodeId use : values_.graph().uses(id)) sink(use, walk);
  return walk.found;
}

void Tracer::sink(NodeId node, Walk& walk) const {
  if (!walk.first_visit(node)) return;
  if (tree_.kind(node) == NodeKind::kAugAssign) {
    for (const DefId id : values_.graph().bound_by(node))
      for (const NodeId use : values_.graph().uses(id)) sink(use, walk);
    return;
  }
  const NodeId parent = tree_[node].parent;
  switch (tree_.kind(parent)) {
    case NodeKind::kAssign:
    case NodeKind::kAnnAssign:
    case NodeKind::kNamed: {
      if (tree_[parent].last != node) return;
      bool elsewhere = false;
      for (NodeId target = tree_[parent].first; target != node; target = tree_[target].next) {
        if (tree_.kind(target) != NodeKind::kName) elsewhere = true;
        for (const DefId id : values_.graph().bound_by(target))
          for (const NodeId use : values_.graph().uses(id)) sink(use, walk);
      }
      if (elsewhere) walk.found.push_back(parent);
      return;
    }
    case NodeKind::kKeyword:
    case NodeKind::kStarred:
      walk.found.push_back(tree_[parent].parent);
      return;
    case NodeKind::kAttribute: {
      const NodeId call = tree_[parent].parent;
      const bool called = tree_.kind(call) == NodeKind::kCall && tree_[call].first == parent;
      if (values_.vocabulary().keeps_value(tree_.name(parent)))
        return sink(called ? call : parent, walk);
      walk.found.push_back(called ? call : parent);
      return;
    }
    case NodeKind::kSubscript:
      if (tree_[parent].first == node) return sink(parent, walk);
      walk.found.push_back(parent);
      return;
    case NodeKind::kTuple:
    case NodeKind::kList:
    case NodeKind::kDict:
    case NodeKind::kConditional:
    case NodeKind::kAwait:
      return sink(parent, walk);
    case NodeKind::kCall: {
      const NodeId callee = tree_[parent].first;
      if (callee == node) return;
      for (const Value& value : std::vector<Value>(values_.of(callee)))
        if (value.kind == ValueKind::kPath && values_.vocabulary().keeps_first_argument(value.path))
          return sink(parent, walk);
      walk.found.push_back(parent);
      return;
    }
    default:
      if (parent != kNoNode) walk.found.push_back(parent);
  }
}

}  // namespace neutra::source
