#pragma once

#include <functional>
#include <vector>

#include "source/flow_graph.h"

namespace neutra::source {

/// Calls `found` with each kName that a target binds, its path (Def::path) and true where it is the
/// rest (`*rest`).
void for_each_name(const SyntaxTree& tree, NodeId target,
                   const std::function<void(NodeId name, std::uint32_t path, bool rest)>& found);

/// The names that a kCase's pattern binds.
void for_each_captured(const SyntaxTree& tree, NodeId pattern,
                       const std::function<void(NodeId name)>& found);

/// The scopes of a tree with the names that they bind; variables are numbered from 0.
struct Scopes {
  std::vector<Scope> list;
  std::unordered_map<NodeId, ScopeId> of_node;
  VariableId variables = 0;
};
Scopes find_scopes(const SyntaxTree& tree);

}  // namespace neutra::source
