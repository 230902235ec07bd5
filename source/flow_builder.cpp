#include "source/flow_builder.h"

#include "source/scope_finder.h"

namespace neutra::source {

FlowGraph::FlowGraph(const SyntaxTree& tree) : tree_(tree) {
  defs_.emplace_back();  // kNoDef
  definitions_.resize(tree.size(), kNoDef);
  places_.resize(tree.size());
  FlowBuilder(*this).run();
  for (NodeId name = 1; name < tree.size(); ++name)
    if (definitions_[name] != kNoDef) uses_[definitions_[name]].push_back(name);
  for (DefId id = 1; id < defs_.size(); ++id) {
    const bool free = defs_[id].kind == DefKind::kFree;
    for (const DefId operand : free ? all_[defs_[id].variable] : defs_[id].operands)
      phis_of_[operand].push_back(id);
  }
}

FlowBuilder::FlowBuilder(FlowGraph& graph) : graph_(graph), tree_(graph.tree_) {
  Scopes scopes = find_scopes(tree_);
  graph_.scopes_ = std::move(scopes.list);
  graph_.scope_of_node_ = std::move(scopes.of_node);
  graph_.all_.resize(scopes.variables);
  most_steps_ = 64 * static_cast<std::uint64_t>(tree_.size()) + 1000;
  new_block(true);  // block 0 is none
}

void FlowBuilder::run() {
  flow(tree_.root(), 0);
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const auto [node, scope] = waiting_[i];
    flow(node, scope);
  }
}

BlockId FlowBuilder::new_block(bool sealed) {
  graph_.blocks_.emplace_back();
  graph_.blocks_.back().flow = flow_;
  sealed_.push_back(sealed);
  const auto id = static_cast<BlockId>(graph_.blocks_.size() - 1);
  if (id != 0) graph_.flows_[flow_].blocks.push_back(id);
  return id;
}

void FlowBuilder::edge(BlockId from, BlockId to) {
  graph_.blocks_[from].next.push_back(to);
  graph_.blocks_[to].previous.push_back(from);
}

void FlowBuilder::event(NodeId node) {
  std::vector<NodeId>& events = graph_.blocks_[block_].events;
  graph_.places_[node] = {block_, static_cast<std::uint32_t>(events.size()), true};
  events.push_back(node);
}

void FlowBuilder::branch_from(BlockId from) {
  block_ = new_block(true);
  edge(from, block_);
}

void FlowBuilder::flow(NodeId node, ScopeId scope) {
  const bool module = node == tree_.root();
  if (module) graph_.flows_.emplace_back();
  flow_ = module ? 0 : graph_.flow_of_node_[node];
  graph_.flows_[flow_].node = node;
  scope_ = scope;
  loops_.clear();
  finals_.clear();
  block_ = new_block(true);
  const BlockId exit = new_block(false);
  graph_.flows_[flow_].entry = block_;
  graph_.flows_[flow_].exit = exit;
  if (!module) {
    const NodeId parameters = tree_.child_of_kind(node, NodeKind::kParameters);
    for (NodeId one = tree_[parameters].first; one != kNoNode; one = tree_[one].next) {
      Def def;
      def.kind = DefKind::kParameter;
      def.node = one;
      bind(tree_.name(one), std::move(def));
    }
  }
  statements(tree_.last_of_kind(node, NodeKind::kBlock));
  edge(block_, exit);
  seal(exit);
}

void FlowBuilder::statements(NodeId block) {
  if (block == kNoNode) return;
  for (NodeId child = tree_[block].first; child != kNoNode; child = tree_[child].next)
    statement(child);
}

/// Leaves the block for another one; what follows is reached by nothing.
void FlowBuilder::leave(BlockId to) {
  if (!finals_.empty()) {
    finals_.back().escapes = true;
    edge(block_, finals_.back().entry);
  } else if (to != 0) {
    edge(block_, to);
  }
  block_ = new_block(true);
}

void FlowBuilder::statement(NodeId node) {
  switch (tree_.kind(node)) {
    case NodeKind::kFunction:
      return function(node);
    case NodeKind::kClass:
      return class_(node);
    case NodeKind::kIf:
      return if_(node);
    case NodeKind::kFor:
    case NodeKind::kWhile:
      return loop(node);
    case NodeKind::kWith:
      return with(node);
    case NodeKind::kTry:
      return try_(node);
    case NodeKind::kMatch:
      return match(node);
    case NodeKind::kElse:
      return statements(tree_.last_of_kind(node, NodeKind::kBlock));
    case NodeKind::kReturn:
      expression(tree_[node].first);
      event(node);
      return leave(graph_.flows_[flow_].exit);
    case NodeKind::kRaise:
      simple(node);
      block_ = new_block(true);
      return;
    case NodeKind::kBreak:
      return leave(loops_.empty() ? 0 : loops_.back().out);
    case NodeKind::kContinue:
      return leave(loops_.empty() ? 0 : loops_.back().next);
    default:
      return simple(node);
  }
}

void FlowBuilder::simple(NodeId node) {
  switch (tree_.kind(node)) {
    case NodeKind::kAssign:
    case NodeKind::kAugAssign:
    case NodeKind::kAnnAssign:
      return assign(node);
    case NodeKind::kImport:
    case NodeKind::kImportFrom:
      return import(node);
    case NodeKind::kGlobal:
    case NodeKind::kNonlocal:
      return;
    case NodeKind::kDelete:
      for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
        expression(child);
        bind_target(child, DefKind::kOther, kNoNode);
      }
      return;
    default:
      for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next)
        expression(child);
  }
}

void FlowBuilder::assign(NodeId node) {
  const NodeKind kind = tree_.kind(node);
  const NodeId value = tree_[node].last;
  if (kind == NodeKind::kAugAssign) {
    expression(tree_[node].first);
    expression(value == tree_[node].first ? kNoNode : value);
    event(node);
    for_each_name(tree_, tree_[node].first, [&](NodeId name, std::uint32_t, bool) {
      Def def;
      def.kind = DefKind::kAugmented;
      def.node = node;
      def.value = value;
      bind(tree_.text(name), std::move(def));
    });
    return;
  }
  if (kind == NodeKind::kAnnAssign) {
    const bool has_value = tree_.kind(value) != NodeKind::kAnnotation;
    if (!has_value) return;
    expression(value);
    target(tree_[node].first);
    event(node);
    return bind_target(tree_[node].first, DefKind::kValue, value);
  }
  expression(value);
  for (NodeId child = tree_[node].first; child != value; child = tree_[child].next) target(child);
  event(node);
  for (NodeId child = tree_[node].first; child != value; child = tree_[child].next)
    bind_target(child, DefKind::kValue, value);
}

void FlowBuilder::bind_target(NodeId target, DefKind kind, NodeId value) {
  for_each_name(tree_, target, [&](NodeId name, std::uint32_t path, bool rest) {
    Def def;
    def.kind = rest ? DefKind::kOther : kind;
    def.node = name;
    def.value = value;
    def.path = path;
    bind(tree_.text(name), std::move(def));
  });
}

void FlowBuilder::import(NodeId node) {
  for (NodeId alias = tree_[node].first; alias != kNoNode; alias = tree_[alias].next) {
    if (tree_.kind(alias) != NodeKind::kAlias) continue;
    std::string_view name = tree_.name(alias);
    if (name.empty()) {
      name = tree_.text(tree_[alias].first);
      name = name.substr(0, name.find('.'));
    }
    Def def;
    def.kind = DefKind::kImport;
    def.node = alias;
    bind(name, std::move(def));
  }
}

void FlowBuilder::function(NodeId node) {
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) == NodeKind::kDecorator) expression(tree_[child].first);
    if (tree_.kind(child) != NodeKind::kParameters) continue;
    for (NodeId one = tree_[child].first; one != kNoNode; one = tree_[one].next)
      if (tree_[one].last != tree_[one].first &&
          tree_.kind(tree_[one].last) != NodeKind::kAnnotation)
        expression(tree_[one].last);
  }
  Def def;
  def.kind = DefKind::kFunction;
  def.node = node;
  bind(tree_.name(node), std::move(def));
  graph_.flows_.emplace_back();
  const auto own = static_cast<FlowId>(graph_.flows_.size() - 1);
  graph_.flow_of_node_[node] = own;
  const ScopeId scope = graph_.scope_of_node_[node];
  graph_.scopes_[scope].flow = own;
  waiting_.emplace_back(node, scope);
}

void FlowBuilder::class_(NodeId node) {
  const ScopeId around = scope_;
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) == NodeKind::kDecorator) expression(tree_[child].first);
    if (tree_.kind(child) == NodeKind::kArguments)
      for (NodeId base = tree_[child].first; base != kNoNode; base = tree_[base].next)
        expression(tree_.kind(base) == NodeKind::kKeyword ? tree_[base].last : base);
  }
  scope_ = graph_.scope_of_node_[node];
  graph_.scopes_[scope_].flow = flow_;
  statements(tree_.last_of_kind(node, NodeKind::kBlock));
  scope_ = around;
  Def def;
  def.kind = DefKind::kClass;
  def.node = node;
  bind(tree_.name(node), std::move(def));
}

void FlowBuilder::if_(NodeId node) {
  std::vector<BlockId> ends;
  bool otherwise = false;
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) == NodeKind::kBlock) {  // else
      statements(child);
      otherwise = true;
      break;
    }
    expression(child);
    const BlockId test = block_;
    child = tree_[child].next;
    if (child == kNoNode) break;
    branch_from(test);
    statements(child);
    ends.push_back(block_);
    branch_from(test);
  }
  (void)otherwise;  // where there is no else, block_ is the way past all tests
  ends.push_back(block_);
  const BlockId after = new_block(false);
  for (const BlockId end : ends) edge(end, after);
  seal(after);
  block_ = after;
}

void FlowBuilder::loop(NodeId node) {
  const bool is_for = tree_.kind(node) == NodeKind::kFor;
  if (is_for) expression(tree_.child(node, 1));
  const BlockId head = new_block(false);
  edge(block_, head);
  block_ = head;
  if (!is_for) expression(tree_[node].first);
  const BlockId test = block_;
  const BlockId out = new_block(false);
  const std::string_view condition = tree_.text(tree_[node].first);
  const bool endless = !is_for && (condition == "True" || condition == "1");
  NodeId body = tree_.child_of_kind(node, NodeKind::kBlock);
  branch_from(test);
  if (is_for) {
    target(tree_[node].first);
    bind_target(tree_[node].first, DefKind::kElement, tree_.child(node, 1));
    event(node);
  }
  const std::vector<Final> finals = std::move(finals_);  // `break` stays within them
  finals_.clear();
  loops_.push_back({head, out});
  statements(body);
  loops_.pop_back();
  finals_ = finals;
  edge(block_, head);
  seal(head);
  const NodeId otherwise = tree_.last_of_kind(node, NodeKind::kBlock);
  if (!endless) {
    branch_from(test);
    if (otherwise != body) statements(otherwise);
    edge(block_, out);
  }
  seal(out);
  block_ = out;
}

void FlowBuilder::with(NodeId node) {
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) != NodeKind::kWithItem) {
      statements(child);
      continue;
    }
    expression(tree_[child].first);
    if (tree_[child].last != tree_[child].first) {
      target(tree_[child].last);
      bind_target(tree_[child].last, DefKind::kEntered, tree_[child].first);
    }
  }
}

void FlowBuilder::try_(NodeId node) {
  const NodeId last = tree_.child_of_kind(node, NodeKind::kFinally);
  BlockId final = 0;
  if (last != kNoNode) {
    final = new_block(false);
    finals_.push_back({final, false});
  }
  const BlockId before = block_;
  branch_from(before);
  const BlockId first = block_;
  statements(tree_[node].first);
  const BlockId end_of_body = block_;
  const auto behind = static_cast<BlockId>(graph_.blocks_.size());
  std::vector<BlockId> ends;
  NodeId child = tree_[node].first == kNoNode ? kNoNode : tree_[tree_[node].first].next;
  for (; child != kNoNode && tree_.kind(child) == NodeKind::kHandler; child = tree_[child].next) {
    block_ = new_block(false);
    edge(before, block_);
    // An exception may come from anywhere; of long bodies the last block stands for many.
    for (BlockId from = first; from < behind && from < first + 16; ++from)
      if (graph_.blocks_[from].flow == flow_) edge(from, block_);
    if (end_of_body >= first + 16) edge(end_of_body, block_);
    seal(block_);
    for (NodeId part = tree_[child].first; part != kNoNode; part = tree_[part].next) {
      if (tree_.kind(part) == NodeKind::kBlock) {
        statements(part);
      } else if (tree_.kind(part) == NodeKind::kIdentifier) {
        Def def;
        def.kind = DefKind::kOther;
        def.node = child;
        bind(tree_.text(part), std::move(def));
      } else {
        expression(part);
      }
    }
    ends.push_back(block_);
  }
  block_ = end_of_body;
  if (child != kNoNode && tree_.kind(child) == NodeKind::kElse) statement(child);
  ends.push_back(block_);
  if (final == 0) final = new_block(false);
  bool escapes = false;
  if (last != kNoNode) {
    escapes = finals_.back().escapes;
    finals_.pop_back();
  }
  for (const BlockId end : ends) edge(end, final);
  seal(final);
  block_ = final;
  if (last == kNoNode) return;
  statements(tree_.last_of_kind(last, NodeKind::kBlock));
  if (!escapes) return;
  const BlockId end = block_;
  leave(loops_.empty() ? graph_.flows_[flow_].exit : loops_.back().out);
  branch_from(end);
}

void FlowBuilder::match(NodeId node) {
  expression(tree_[node].first);
  std::vector<BlockId> ends;
  NodeId child = tree_[tree_[node].first].next;
  for (; child != kNoNode; child = tree_[child].next) {
    const BlockId test = block_;
    branch_from(test);
    for_each_captured(tree_, tree_[child].first, [&](NodeId name) {
      Def def;
      def.kind = DefKind::kOther;
      def.node = name;
      bind(tree_.text(name), std::move(def));
    });
    for (NodeId part = tree_[tree_[child].first].next; part != kNoNode; part = tree_[part].next) {
      if (tree_.kind(part) == NodeKind::kBlock)
        statements(part);
      else
        expression(part);
    }
    ends.push_back(block_);
    branch_from(test);
  }
  ends.push_back(block_);
  const BlockId after = new_block(false);
  for (const BlockId end : ends) edge(end, after);
  seal(after);
  block_ = after;
}

}  // namespace neutra::source
