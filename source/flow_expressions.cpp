// Expressions in the order in which they are evaluated. `and`, `or` and `a if b else c` are read as
// if all of their parts were: no rule asks for less.

#include "source/flow_builder.h"
#include "source/scope_finder.h"

namespace neutra::source {

void FlowBuilder::expression(NodeId node) {
  if (node == kNoNode) return;
  switch (tree_.kind(node)) {
    case NodeKind::kName:
      return use(node);
    case NodeKind::kLambda:
      return lambda(node);
    case NodeKind::kComprehension:
      return comprehension(node);
    case NodeKind::kNamed:
      expression(tree_[node].last);
      return bind_target(tree_[node].first, DefKind::kValue, tree_[node].last);
    case NodeKind::kConditional:
      expression(tree_.child(node, 1));
      expression(tree_[node].first);
      return expression(tree_.child(node, 2));
    case NodeKind::kIdentifier:
    case NodeKind::kAnnotation:
      return;
    default:
      break;
  }
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
    expression(child);
  const NodeKind kind = tree_.kind(node);
  if (kind == NodeKind::kCall || kind == NodeKind::kAttribute || kind == NodeKind::kBinary)
    event(node);
}

/// What is evaluated of a target: `a` and `b` of `a[b] = c`, and the attribute of `a.b = c`.
void FlowBuilder::target(NodeId node) {
  switch (tree_.kind(node)) {
    case NodeKind::kName:
      return;
    case NodeKind::kTuple:
    case NodeKind::kList:
    case NodeKind::kStarred:
      for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
        target(child);
      return;
    default:
      expression(node);
  }
}

template <typename Body>
void FlowBuilder::with_own(const std::vector<std::string_view>& names, const Body& body) {
  std::vector<std::pair<VariableId, DefId>> before;
  for (const std::string_view name : names) {
    ScopeId owner = 0;
    const VariableId variable = variable_of(name, &owner);
    if (variable != kNoVariable) before.emplace_back(variable, read(block_, variable));
  }
  body();
  for (const auto& [variable, def] : before)
    current_[(static_cast<std::uint64_t>(block_) << 32) | variable] = def;
}

void FlowBuilder::lambda(NodeId node) {
  const NodeId parameters = tree_[node].first;
  std::vector<std::string_view> names;
  for (NodeId one = tree_[parameters].first; one != kNoNode; one = tree_[one].next) {
    names.push_back(tree_.name(one));
    if (tree_[one].last != tree_[one].first) expression(tree_[one].last);
  }
  with_own(names, [&] {
    for (NodeId one = tree_[parameters].first; one != kNoNode; one = tree_[one].next) {
      Def def;
      def.kind = DefKind::kParameter;
      def.node = one;
      bind(tree_.name(one), std::move(def));
    }
    if (tree_[node].last != parameters) expression(tree_[node].last);
  });
}

void FlowBuilder::comprehension(NodeId node) {
  std::vector<std::string_view> names;
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
    if (tree_.kind(child) == NodeKind::kCompFor)
      for_each_name(tree_, tree_[child].first,
                    [&](NodeId name, std::uint32_t, bool) { names.push_back(tree_.text(name)); });
  with_own(names, [&] {
    for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
      if (tree_.kind(child) != NodeKind::kCompFor) {
        expression(child);
        continue;
      }
      const NodeId target = tree_[child].first;
      const NodeId iterable = target == kNoNode ? kNoNode : tree_[target].next;
      expression(iterable);
      if (target != kNoNode) bind_target(target, DefKind::kElement, iterable);
      if (iterable == kNoNode) continue;
      for (NodeId test = tree_[iterable].next; test != kNoNode; test = tree_[test].next)
        expression(test);
    }
  });
}

}  // namespace neutra::source
