#include "source/scope_finder.h"

namespace neutra::source {
namespace {

void names_in(const SyntaxTree& tree, NodeId target, std::uint32_t path, bool rest,
              const std::function<void(NodeId, std::uint32_t, bool)>& found) {
  switch (tree.kind(target)) {
    case NodeKind::kName:
      found(target, path, rest);
      return;
    case NodeKind::kStarred:
      names_in(tree, tree[target].first, path, true, found);
      return;
    case NodeKind::kTuple:
    case NodeKind::kList: {
      std::uint32_t index = 1;
      for (NodeId child = tree[target].first; child != kNoNode; child = tree[child].next)
        names_in(tree, child, (path << 8) | std::min<std::uint32_t>(index++, 255), rest, found);
      return;
    }
    default:
      return;
  }
}

class ScopeFinder {
 public:
  explicit ScopeFinder(const SyntaxTree& tree) : tree_(tree) {
    open(tree.root(), 0);
    visit_children(tree.root(), 0);
  }

  Scopes take() { return std::move(scopes_); }

 private:
  ScopeId open(NodeId node, ScopeId parent) {
    Scope scope;
    scope.node = node;
    scope.parent = parent;
    scopes_.list.push_back(std::move(scope));
    const auto id = static_cast<ScopeId>(scopes_.list.size() - 1);
    scopes_.of_node[node] = id;
    return id;
  }

  void bind(std::string_view name, ScopeId scope) {
    if (name.empty() || scopes_.list[scope].elsewhere.contains(name)) return;
    if (scopes_.list[scope].names.try_emplace(name, scopes_.variables).second) ++scopes_.variables;
  }
  void bind_targets(NodeId target, ScopeId scope) {
    for_each_name(tree_, target, [this, scope](NodeId name, std::uint32_t, bool) {
      bind(tree_.text(name), scope);
    });
  }

  void visit_children(NodeId node, ScopeId scope) {
    for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
      visit(child, scope);
  }

  void visit(NodeId node, ScopeId scope) {
    switch (tree_.kind(node)) {
      case NodeKind::kFunction:
      case NodeKind::kClass:
        bind(tree_.name(node), scope);
        return visit_body(node, scope);
      case NodeKind::kLambda:
        // Its parameters live in the scope around while it is read (FlowBuilder::lambda()).
        for (NodeId one = tree_[tree_[node].first].first; one != kNoNode; one = tree_[one].next)
          bind(tree_.name(one), scope);
        break;
      case NodeKind::kAssign:
        for (NodeId child = tree_[node].first; child != tree_[node].last; child = tree_[child].next)
          bind_targets(child, scope);
        break;
      case NodeKind::kAugAssign:
      case NodeKind::kAnnAssign:
      case NodeKind::kFor:
      case NodeKind::kCompFor:
      case NodeKind::kNamed:
        bind_targets(tree_[node].first, scope);
        break;
      case NodeKind::kWithItem:
        if (tree_[node].first != tree_[node].last) bind_targets(tree_[node].last, scope);
        break;
      case NodeKind::kHandler:
        bind(tree_.name(node), scope);
        break;
      case NodeKind::kCase:
        for_each_captured(tree_, tree_[node].first,
                          [this, scope](NodeId name) { bind(tree_.text(name), scope); });
        break;
      case NodeKind::kImport:
      case NodeKind::kImportFrom:
        return visit_import(node, scope);
      case NodeKind::kGlobal:
      case NodeKind::kNonlocal:
        return visit_elsewhere(node, scope);
      default:
        break;
    }
    visit_children(node, scope);
  }

  void visit_body(NodeId node, ScopeId around) {
    const ScopeId own = open(node, around);
    for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
      if (tree_.kind(child) == NodeKind::kParameters) {
        for (NodeId one = tree_[child].first; one != kNoNode; one = tree_[one].next)
          bind(tree_.name(one), own);
        visit_children(child, around);
      } else {
        visit(child, tree_.kind(child) == NodeKind::kBlock ? own : around);
      }
    }
  }

  void visit_import(NodeId node, ScopeId scope) {
    for (NodeId alias = tree_[node].first; alias != kNoNode; alias = tree_[alias].next) {
      if (tree_.kind(alias) != NodeKind::kAlias) continue;
      if (const std::string_view as = tree_.name(alias); !as.empty()) {
        bind(as, scope);
      } else {
        const std::string_view dotted = tree_.text(tree_[alias].first);
        bind(dotted.substr(0, dotted.find('.')), scope);
      }
    }
  }

  void visit_elsewhere(NodeId node, ScopeId scope) {
    const bool global = tree_.kind(node) == NodeKind::kGlobal;
    for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
      const std::string_view name = tree_.text(child);
      ScopeId owner = 0;
      if (!global) {
        owner = scopes_.list[scope].parent;
        while (owner != 0 && !scopes_.list[owner].names.contains(name))
          owner = scopes_.list[owner].parent;
      }
      if (owner == scope || scopes_.list[scope].names.contains(name)) continue;
      scopes_.list[scope].elsewhere[name] = owner;
      bind(name, owner);
    }
  }

  const SyntaxTree& tree_;
  Scopes scopes_;
};

}  // namespace

void for_each_name(const SyntaxTree& tree, NodeId target,
                   const std::function<void(NodeId, std::uint32_t, bool)>& found) {
  names_in(tree, target, 0, false, found);
}

void for_each_captured(const SyntaxTree& tree, NodeId pattern,
                       const std::function<void(NodeId)>& found) {
  if (tree.kind(pattern) == NodeKind::kName) {
    if (tree.text(pattern) != "_") found(pattern);
    return;
  }
  if (tree.kind(pattern) == NodeKind::kAttribute) return;
  NodeId child = tree[pattern].first;
  if (tree.kind(pattern) == NodeKind::kCall && child != kNoNode) child = tree[child].next;
  for (; child != kNoNode; child = tree[child].next) for_each_captured(tree, child, found);
}

Scopes find_scopes(const SyntaxTree& tree) { return ScopeFinder(tree).take(); }

}  // namespace neutra::source
