#include "source/flow_graph.h"

#include <algorithm>
#include <unordered_set>

namespace neutra::source {

std::vector<DefId> FlowGraph::reaching(DefId id) const {
  std::vector<DefId> result, open{id};
  std::unordered_set<DefId> seen{id};
  const auto add = [&](DefId next) {
    if (next != kNoDef && seen.size() < 8 * kMostDefinitions && seen.insert(next).second)
      open.push_back(next);
  };
  while (!open.empty() && result.size() < kMostDefinitions) {
    const DefId next = open.back();
    open.pop_back();
    const Def& def = defs_[next];
    if (def.kind == DefKind::kPhi) {
      for (const DefId operand : def.operands) add(operand);
    } else if (def.kind == DefKind::kFree) {
      const auto& all = all_[def.variable];
      for (std::size_t i = 0; i < std::min(all.size(), kMostDefinitions); ++i) add(all[i]);
    } else if (next != kNoDef) {
      result.push_back(next);
    }
  }
  std::sort(result.begin(), result.end());
  // In a text that is a part of a program, names are used before they are bound.
  if (result.size() == 1 && defs_[result[0]].kind == DefKind::kUnbound) {
    const auto& all = all_[defs_[result[0]].variable];
    result.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(all.size(), kMostDefinitions)));
  }
  std::erase_if(result, [&](DefId one) { return defs_[one].kind == DefKind::kUnbound; });
  return result;
}

std::vector<NodeId> FlowGraph::uses(DefId id) const {
  std::vector<NodeId> result;
  std::vector<DefId> open{id};
  std::unordered_set<DefId> seen{id};
  while (!open.empty() && result.size() < 4 * kMostDefinitions) {
    const DefId next = open.back();
    open.pop_back();
    if (const auto found = uses_.find(next); found != uses_.end())
      result.insert(result.end(), found->second.begin(), found->second.end());
    if (const auto found = phis_of_.find(next); found != phis_of_.end()) {
      for (const DefId phi : found->second)
        if (seen.size() < 8 * kMostDefinitions && seen.insert(phi).second) open.push_back(phi);
    }
  }
  return result;
}

const std::vector<DefId>& FlowGraph::bound_by(NodeId name) const {
  static const std::vector<DefId> none;
  const auto found = bound_.find(name);
  return found != bound_.end() ? found->second : none;
}

FlowId FlowGraph::flow_of(NodeId id) const {
  NodeId below = kNoNode;
  for (NodeId up = id; up != kNoNode; below = up, up = tree_[up].parent) {
    if (tree_.kind(up) != NodeKind::kFunction || up == id) continue;
    if (tree_.kind(below) == NodeKind::kBlock) return body_of(up);
  }
  return 0;
}

FlowId FlowGraph::body_of(NodeId function) const {
  const auto found = flow_of_node_.find(function);
  return found != flow_of_node_.end() ? found->second : 0;
}

ScopeId FlowGraph::scope_of(NodeId node) const {
  const auto found = scope_of_node_.find(node);
  return found != scope_of_node_.end() ? found->second : 0;
}

}  // namespace neutra::source
