// Static single assignment while the graph is made, after Braun et al. Their readVariable()
// recurses along the graph; here phis that still lack operands wait in a list.

#include <algorithm>

#include "source/flow_builder.h"

namespace neutra::source {
namespace {

std::uint64_t key(BlockId block, VariableId variable) {
  return (static_cast<std::uint64_t>(block) << 32) | variable;
}

}  // namespace

VariableId FlowBuilder::variable_of(std::string_view name, ScopeId* owner) {
  ScopeId scope = scope_;
  for (bool own = true;; own = false) {
    const Scope& here = graph_.scopes_[scope];
    if (const auto elsewhere = here.elsewhere.find(name); elsewhere != here.elsewhere.end()) {
      scope = elsewhere->second;
      continue;
    }
    // What a class binds is known to its methods by way of `self` only.
    const bool visible = own || graph_.tree_.kind(here.node) != NodeKind::kClass;
    if (visible) {
      if (const auto found = here.names.find(name); found != here.names.end()) {
        *owner = scope;
        return found->second;
      }
    }
    if (scope == 0) return kNoVariable;
    scope = here.parent;
  }
}

DefId FlowBuilder::new_def(Def def) {
  const auto id = static_cast<DefId>(graph_.defs_.size());
  if (def.kind != DefKind::kPhi && def.kind != DefKind::kUnbound && def.kind != DefKind::kFree)
    graph_.all_[def.variable].push_back(id);
  graph_.defs_.push_back(std::move(def));
  return id;
}

DefId FlowBuilder::found(BlockId block, VariableId variable, std::vector<DefId>& open) {
  std::vector<BlockId> path;
  DefId result = kNoDef;
  while (true) {
    if (++steps_ > most_steps_) return kNoDef;
    const auto known = current_.find(key(block, variable));
    if (known != current_.end()) {
      result = known->second;
      break;
    }
    path.push_back(block);
    const std::vector<BlockId>& previous = graph_.blocks_[block].previous;
    if (sealed_[block] && previous.size() == 1) {
      block = previous.front();
      continue;
    }
    Def def;
    def.variable = variable;
    if (sealed_[block] && previous.empty()) {
      def.kind = DefKind::kUnbound;
      result = new_def(std::move(def));
    } else {
      def.kind = DefKind::kPhi;
      result = new_def(std::move(def));
      block_of_phi_[result] = block;
      if (sealed_[block])
        open.push_back(result);
      else
        incomplete_[block].push_back(result);
    }
    break;
  }
  for (const BlockId passed : path) current_[key(passed, variable)] = result;
  return result;
}

void FlowBuilder::fill(std::vector<DefId>& open) {
  while (!open.empty()) {
    const DefId phi = open.back();
    open.pop_back();
    std::vector<DefId> operands;
    const VariableId variable = graph_.defs_[phi].variable;
    for (const BlockId previous : graph_.blocks_[block_of_phi_[phi]].previous)
      operands.push_back(found(previous, variable, open));
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    std::erase(operands, phi);
    std::erase(operands, kNoDef);
    graph_.defs_[phi].operands = std::move(operands);
  }
}

DefId FlowBuilder::read(BlockId block, VariableId variable) {
  std::vector<DefId> open;
  const DefId result = found(block, variable, open);
  fill(open);
  return result;
}

void FlowBuilder::seal(BlockId block) {
  sealed_[block] = true;
  const auto waiting = incomplete_.find(block);
  if (waiting == incomplete_.end()) return;
  std::vector<DefId> open = std::move(waiting->second);
  incomplete_.erase(waiting);
  fill(open);
}

void FlowBuilder::bind(std::string_view name, Def def) {
  ScopeId owner = 0;
  const VariableId variable = variable_of(name, &owner);
  if (variable == kNoVariable) return;
  def.variable = variable;
  const NodeId node = def.node;
  const DefId id = new_def(std::move(def));
  current_[key(block_, variable)] = id;
  graph_.bound_[node].push_back(id);
}

void FlowBuilder::use(NodeId name) {
  ScopeId owner = 0;
  const VariableId variable = variable_of(tree_.text(name), &owner);
  if (variable == kNoVariable) return;
  if (graph_.scopes_[owner].flow == flow_) {
    graph_.definitions_[name] = read(block_, variable);
    return;
  }
  // Of a scope around, where it isn't known when this runs. Where this flow itself binds the name
  // (`global`), what it bound last is known.
  const auto here = current_.find(key(block_, variable));
  if (here != current_.end()) {
    graph_.definitions_[name] = here->second;
    return;
  }
  const auto [free, is_new] = free_.try_emplace(variable, kNoDef);
  if (is_new) {
    Def def;
    def.kind = DefKind::kFree;
    def.variable = variable;
    free->second = new_def(std::move(def));
  }
  graph_.definitions_[name] = free->second;
}

}  // namespace neutra::source
