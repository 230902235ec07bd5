#include "source/values.h"

#include <algorithm>

#include "base/strings.h"

namespace neutra::source {
namespace {

constexpr int kDeepest = 40;  ///< definitions that are followed one after the other

void add(std::vector<Value>& found, const Value& value) {
  if (found.size() < Values::kMostValues &&
      std::find(found.begin(), found.end(), value) == found.end())
    found.push_back(value);
}

/// Is it the path of a class, by the custom that only their names begin with a capital?
bool is_class_path(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('.') + 1);
  const std::size_t letter = name.find_first_not_of('_');
  if (letter == std::string_view::npos) return false;
  return name[letter] >= 'A' && name[letter] <= 'Z';
}

}  // namespace

Values::Values(const FlowGraph& graph, const Vocabulary& vocabulary)
    : graph_(graph), vocabulary_(vocabulary) {
  most_steps_ = 64 * static_cast<std::uint64_t>(graph.tree().size()) + 10000;
  index();
  // Who calls whom, first without knowing what parameters are; then all is read anew.
  for (const NodeId call : calls_)
    for (const NodeId function : callees(call)) callers_[function].push_back(call);
  known_.clear();
  steps_ = 0;
}

/// Calls, classes, what is returned and what `self` gets: one pass over the nodes.
void Values::index() {
  const SyntaxTree& tree = graph_.tree();
  for (NodeId id = 1; id < tree.size(); ++id) {
    switch (tree.kind(id)) {
      case NodeKind::kClass:
        class_nodes_.push_back(id);
        break;
      case NodeKind::kCall: {
        calls_.push_back(id);
        const NodeId callee = tree[id].first;
        if (callee == kNoNode || tree.kind(callee) != NodeKind::kAttribute) break;
        const std::string_view object = last_name(tree[callee].first);
        const std::string_view method = tree.name(callee);
        for (std::size_t i = 0; i < vocabulary_.kinds().size() && !object.empty(); ++i) {
          const auto& methods = vocabulary_.kinds()[i].methods;
          if (std::find(methods.begin(), methods.end(), method) != methods.end())
            kinds_by_methods_[object] |= Kinds{1} << i;
        }
        break;
      }
      case NodeKind::kReturn: {
        const NodeId function = tree.above(id, {NodeKind::kFunction});
        if (function != kNoNode && tree[id].first != kNoNode)
          returns_[function].push_back(tree[id].first);
        break;
      }
      case NodeKind::kAssign:
      case NodeKind::kAnnAssign: {
        const NodeId value = tree[id].last;
        if (tree.kind(value) == NodeKind::kAnnotation) break;
        for (NodeId target = tree[id].first; target != value; target = tree[target].next) {
          if (tree.kind(target) != NodeKind::kAttribute ||
              tree.kind(tree[target].first) != NodeKind::kName)
            continue;
          const NodeId function = tree.above(id, {NodeKind::kFunction});
          const NodeId owner = function == kNoNode ? kNoNode : class_of(function);
          if (owner == kNoNode) loose_attributes_[tree.text(target)].push_back(value);
          if (owner == kNoNode) continue;
          const NodeId self = tree[tree.child_of_kind(function, NodeKind::kParameters)].first;
          if (self != kNoNode && tree.name(self) == tree.text(tree[target].first))
            attributes_[owner][tree.name(target)].push_back(value);
        }
        break;
      }
      default:
        break;
    }
  }
}

std::string_view Values::interned(std::string text) const {
  return *paths_.insert(std::move(text)).first;
}

NodeId Values::class_of(NodeId function) const {
  const SyntaxTree& tree = graph_.tree();
  const NodeId owner = tree.above(function, {NodeKind::kClass, NodeKind::kFunction});
  return owner != kNoNode && tree.kind(owner) == NodeKind::kClass ? owner : kNoNode;
}

std::string_view Values::last_name(NodeId node) const {
  const SyntaxTree& tree = graph_.tree();
  while (node != kNoNode) {
    switch (tree.kind(node)) {
      case NodeKind::kName:
        return tree.text(node);
      case NodeKind::kAttribute:
        if (tree.name(node) != "module") return tree.name(node);
        node = tree[node].first;
        break;
      case NodeKind::kSubscript:
        node = tree[node].first;
        break;
      default:
        return {};
    }
  }
  return {};
}

const std::vector<Value>& Values::of(NodeId node) const {
  static const std::vector<Value> none;
  if (node == kNoNode) return none;
  const auto known = known_.find(node);
  if (known != known_.end()) return known->second;
  if (depth_ >= kDeepest || ++steps_ > most_steps_ || !open_.insert(node).second) return none;
  ++depth_;
  std::vector<Value> found = find(node);
  --depth_;
  open_.erase(node);
  return known_[node] = std::move(found);
}

void Values::add_all(NodeId node, std::vector<Value>& found) const {
  for (const Value& value : std::vector<Value>(of(node))) add(found, value);
}

std::vector<Value> Values::find(NodeId node) const {
  const SyntaxTree& tree = graph_.tree();
  std::vector<Value> found;
  switch (tree.kind(node)) {
    case NodeKind::kName:
      of_name(node, found);
      break;
    case NodeKind::kAttribute:
      of_attribute(node, found);
      break;
    case NodeKind::kCall:
      of_call(node, found);
      break;
    case NodeKind::kConditional:
      add_all(tree[node].first, found);
      add_all(tree[node].last, found);
      break;
    case NodeKind::kOr:
    case NodeKind::kAnd:
      for (NodeId child = tree[node].first; child != kNoNode; child = tree[child].next)
        add_all(child, found);
      break;
    case NodeKind::kNamed:
    case NodeKind::kAwait:
      add_all(tree[node].last, found);
      break;
    default:
      break;
  }
  return found;
}

void Values::of_name(NodeId node, std::vector<Value>& found) const {
  const DefId definition = graph_.definition(node);
  const std::vector<DefId> reaching =
      definition == kNoDef ? std::vector<DefId>() : graph_.reaching(definition);
  if (reaching.empty()) {
    const std::string& path = vocabulary_.customary(graph_.tree().text(node));
    if (!path.empty()) add(found, {ValueKind::kPath, interned(path), kNoNode});
    return;
  }
  for (const DefId id : reaching) of_definition(id, found);
}

void Values::of_definition(DefId id, std::vector<Value>& found) const {
  const SyntaxTree& tree = graph_.tree();
  const Def& def = graph_.def(id);
  switch (def.kind) {
    case DefKind::kImport:
      add(found, {ValueKind::kPath, interned(imported_path(def.node)), kNoNode});
      break;
    case DefKind::kFunction:
      add(found, {ValueKind::kFunction, {}, def.node});
      break;
    case DefKind::kClass:
      add(found, {ValueKind::kClass, {}, def.node});
      break;
    case DefKind::kValue:
      add_all(part_of(tree, def.value, def.path), found);
      break;
    case DefKind::kEntered:
      add_all(def.value, found);
      break;
    case DefKind::kElement:
      if (def.value != kNoNode &&
          (tree.kind(def.value) == NodeKind::kList || tree.kind(def.value) == NodeKind::kTuple)) {
        for (NodeId child = tree[def.value].first; child != kNoNode; child = tree[child].next)
          add_all(part_of(tree, child, def.path), found);
      }
      break;
    case DefKind::kParameter:
      of_parameter(def.node, found);
      break;
    default:
      break;
  }
}

std::string Values::imported_path(NodeId alias) const {
  const SyntaxTree& tree = graph_.tree();
  const NodeId statement = tree[alias].parent;
  const std::string dotted(tree.text(tree[alias].first));
  if (tree.kind(statement) == NodeKind::kImportFrom) {
    std::string module(tree.text(tree.child_of_kind(statement, NodeKind::kDottedName)));
    if (module.starts_with('.')) return module + "." + dotted;  // of the same package
    return vocabulary_.canonical(module + "." + dotted);
  }
  if (tree.name(alias).empty()) return vocabulary_.canonical(dotted.substr(0, dotted.find('.')));
  return vocabulary_.canonical(dotted);
}

void Values::of_parameter(NodeId parameter, std::vector<Value>& found) const {
  const SyntaxTree& tree = graph_.tree();
  const NodeId list = tree[parameter].parent;
  const NodeId function = tree[list].parent;
  if (tree.kind(function) != NodeKind::kFunction) return;
  const NodeId owner = class_of(function);
  if (owner != kNoNode && tree[list].first == parameter) {
    for (NodeId child = tree[function].first; child != kNoNode; child = tree[child].next)
      if (tree.kind(child) == NodeKind::kDecorator &&
          tree.text(tree[child].first) == "staticmethod")
        return;
    add(found, {ValueKind::kLocalInstance, {}, owner});
    return;
  }
  if (tree[parameter].last != tree[parameter].first &&
      tree.kind(tree[parameter].last) != NodeKind::kAnnotation)
    add_all(tree[parameter].last, found);
  const std::vector<NodeId>& calls = callers(function);
  for (std::size_t i = 0; i < std::min<std::size_t>(calls.size(), kMostValues); ++i)
    add_all(argument_for(calls[i], function, parameter), found);
}

void Values::of_attribute(NodeId node, std::vector<Value>& found) const {
  const SyntaxTree& tree = graph_.tree();
  const std::string_view name = tree.name(node);
  for (const Value& base : std::vector<Value>(of(tree[node].first))) {
    switch (base.kind) {
      case ValueKind::kPath:
        if (name.empty()) break;
        add(found,
            {ValueKind::kPath,
             interned(vocabulary_.canonical(std::string(base.path) + "." + std::string(name))),
             kNoNode});
        break;
      case ValueKind::kLocalInstance:
      case ValueKind::kClass:
        if (const NodeId function = method(base.node, name); function != kNoNode) {
          add(found, {base.kind == ValueKind::kClass ? ValueKind::kFunction : ValueKind::kMethod,
                      {},
                      function});
        } else {
          for (const NodeId value : attribute(base.node, name)) add_all(value, found);
        }
        break;
      case ValueKind::kInstance:
        if (name == "module") add(found, base);  // of a model in DataParallel
        break;
      default:
        break;
    }
  }
  if (!found.empty()) return;
  // Given outside of classes, as in a part of one: self.loss = nn.MSELoss()
  if (const auto loose = loose_attributes_.find(tree.text(node)); loose != loose_attributes_.end())
    for (std::size_t i = 0; i < std::min(loose->second.size(), kMostValues); ++i)
      add_all(loose->second[i], found);
}

void Values::of_call(NodeId node, std::vector<Value>& found) const {
  const SyntaxTree& tree = graph_.tree();
  const NodeId callee = tree[node].first;
  for (const Value& value : std::vector<Value>(of(callee))) {
    switch (value.kind) {
      case ValueKind::kPath:
        if (vocabulary_.returns_self(value.path)) {  // DataParallel(model)
          add_all(argument(node, "module", 0), found);
        } else if (value.path.starts_with("super")) {
          break;
        } else {
          add(found, {is_class_path(value.path) ? ValueKind::kInstance : ValueKind::kResult,
                      value.path, node});
        }
        break;
      case ValueKind::kClass:
        add(found, {ValueKind::kLocalInstance, {}, value.node});
        break;
      case ValueKind::kFunction:
      case ValueKind::kMethod:
        for (const NodeId result : returns(value.node)) add_all(result, found);
        break;
      default:
        break;
    }
  }
  if (found.empty() && callee != kNoNode && tree.kind(callee) == NodeKind::kAttribute &&
      vocabulary_.returns_self(tree.name(callee)))
    add_all(tree[callee].first, found);
}

const std::vector<NodeId>& Values::callers(NodeId function) const {
  static const std::vector<NodeId> none;
  const auto found = callers_.find(function);
  return found != callers_.end() ? found->second : none;
}

const std::vector<NodeId>& Values::returns(NodeId function) const {
  static const std::vector<NodeId> none;
  const auto found = returns_.find(function);
  return found != returns_.end() ? found->second : none;
}

std::vector<NodeId> Values::callees(NodeId call) const {
  std::vector<NodeId> result;
  for (const Value& value : std::vector<Value>(of(graph_.tree()[call].first))) {
    NodeId function = kNoNode;
    if (value.kind == ValueKind::kFunction || value.kind == ValueKind::kMethod) {
      function = value.node;
    } else if (value.kind == ValueKind::kClass) {
      function = method(value.node, "__init__");
    } else if (value.kind == ValueKind::kLocalInstance) {
      function = method(value.node, "forward");
      if (function == kNoNode) function = method(value.node, "__call__");
      if (function == kNoNode) function = method(value.node, "call");
    }
    if (function != kNoNode && std::find(result.begin(), result.end(), function) == result.end())
      result.push_back(function);
  }
  return result;
}

NodeId Values::argument(NodeId call, std::string_view name, int position) const {
  const SyntaxTree& tree = graph_.tree();
  NodeId child = tree[call].first;
  if (tree.kind(call) == NodeKind::kCall && child != kNoNode) child = tree[child].next;
  int index = 0;
  NodeId by_position = kNoNode;
  for (; child != kNoNode; child = tree[child].next) {
    if (tree.kind(child) == NodeKind::kKeyword) {
      if (!name.empty() && tree.name(child) == name && tree[child].first != tree[child].last)
        return tree[child].last;
    } else if (tree.kind(child) == NodeKind::kStarred) {
      index = 1000;
    } else if (index++ == position) {
      by_position = child;
    }
  }
  return by_position;
}

bool Values::has_star_arguments(NodeId call) const {
  return graph_.tree().child_of_kind(call, NodeKind::kStarred) != kNoNode;
}

NodeId Values::argument_for(NodeId call, NodeId function, NodeId parameter) const {
  const SyntaxTree& tree = graph_.tree();
  int position = 0;
  const NodeId list = tree.child_of_kind(function, NodeKind::kParameters);
  for (NodeId one = tree[list].first; one != kNoNode && one != parameter; one = tree[one].next) {
    if (tree[one].stars > 0) {
      position = -1;
      break;
    }
    ++position;
  }
  if (position >= 0 && class_of(function) != kNoNode) {
    const std::vector<Value>& callee = of(tree[call].first);
    const bool plain = std::any_of(callee.begin(), callee.end(), [&](const Value& value) {
      return value.kind == ValueKind::kFunction && value.node == function;
    });
    if (!plain) --position;
    if (position < 0) return kNoNode;
  }
  return argument(call, tree.name(parameter), position);
}

NodeId Values::method(NodeId class_node, std::string_view name) const {
  for (int round = 0; round < 8 && class_node != kNoNode; ++round) {
    const Scope& scope = graph_.scopes()[graph_.scope_of(class_node)];
    const auto variable = scope.names.find(name);
    if (scope.node == class_node && variable != scope.names.end())
      for (const DefId id : graph_.definitions_of(variable->second))
        if (graph_.def(id).kind == DefKind::kFunction) return graph_.def(id).node;
    class_node = base_class(class_node);
  }
  return kNoNode;
}

NodeId Values::base_class(NodeId class_node) const {
  const SyntaxTree& tree = graph_.tree();
  NodeId found = kNoNode;
  const NodeId bases = tree.child_of_kind(class_node, NodeKind::kArguments);
  for (NodeId base = tree[bases].first; base != kNoNode; base = tree[base].next)
    for (const Value& value : std::vector<Value>(of(base)))
      if (value.kind == ValueKind::kClass && value.node != class_node) found = value.node;
  return found;
}

std::vector<NodeId> Values::attribute(NodeId class_node, std::string_view name) const {
  std::vector<NodeId> result;
  for (int round = 0; round < 8 && class_node != kNoNode; ++round) {
    if (const auto found = attributes_.find(class_node); found != attributes_.end())
      if (const auto values = found->second.find(name); values != found->second.end())
        result.insert(result.end(), values->second.begin(), values->second.end());
    const Scope& scope = graph_.scopes()[graph_.scope_of(class_node)];
    if (const auto variable = scope.names.find(name);
        scope.node == class_node && variable != scope.names.end()) {
      for (const DefId id : graph_.definitions_of(variable->second))
        if (graph_.def(id).kind == DefKind::kValue && graph_.def(id).path == 0)
          result.push_back(graph_.def(id).value);
    }
    if (!result.empty()) break;
    class_node = base_class(class_node);
  }
  if (result.size() > kMostValues) result.resize(kMostValues);
  return result;
}

std::vector<std::string_view> Values::library_bases(NodeId class_node) const {
  const SyntaxTree& tree = graph_.tree();
  std::vector<std::string_view> result;
  std::vector<NodeId> open{class_node};
  for (std::size_t i = 0; i < open.size() && i < 16; ++i) {
    const NodeId bases = tree.child_of_kind(open[i], NodeKind::kArguments);
    for (NodeId base = tree[bases].first; base != kNoNode; base = tree[base].next) {
      for (const Value& value : std::vector<Value>(of(base))) {
        if (value.kind == ValueKind::kPath) result.push_back(value.path);
        if (value.kind == ValueKind::kClass &&
            std::find(open.begin(), open.end(), value.node) == open.end())
          open.push_back(value.node);
      }
    }
  }
  return result;
}

Kinds Values::kinds_of_path(std::string_view path) const {
  Kinds result = 0;
  const auto any = [path](const std::vector<std::string>& globs) {
    return std::any_of(globs.begin(), globs.end(),
                       [path](const std::string& glob) { return matches_glob(path, glob); });
  };
  for (std::size_t i = 0; i < vocabulary_.kinds().size(); ++i)
    if (any(vocabulary_.kinds()[i].classes) && !any(vocabulary_.kinds()[i].except))
      result |= Kinds{1} << i;
  return result;
}

Kinds Values::kinds(NodeId node) const {
  if (node == kNoNode) return 0;
  const auto known = known_kinds_.find(node);
  if (known != known_kinds_.end()) return known->second;
  Kinds result = 0;
  bool function = false;
  for (const Value& value : std::vector<Value>(of(node))) {
    if (value.kind == ValueKind::kInstance || value.kind == ValueKind::kResult)
      result |= kinds_of_path(value.path);
    else if (value.kind == ValueKind::kLocalInstance)
      for (const std::string_view base : library_bases(value.node)) result |= kinds_of_path(base);
    else
      function = true;
  }
  const std::string_view name = last_name(node);
  if (result == 0 && !function && !name.empty()) {
    if (const auto found = kinds_by_methods_.find(name); found != kinds_by_methods_.end())
      result |= found->second;
    const std::string lowered = lower(name);
    for (std::size_t i = 0; i < vocabulary_.kinds().size() && result == 0; ++i)
      for (const std::string& glob : vocabulary_.kinds()[i].names)
        if (matches_glob(lowered, glob)) result |= Kinds{1} << i;
  }
  return known_kinds_[node] = result;
}

}  // namespace neutra::source
