#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "source/flow_graph.h"

namespace neutra::source {

/// Fills a FlowGraph: one walk over the tree.
class FlowBuilder {
 public:
  explicit FlowBuilder(FlowGraph& graph);
  void run();

 private:
  // Blocks.
  BlockId new_block(bool sealed);
  void edge(BlockId from, BlockId to);
  void seal(BlockId block);
  void event(NodeId node);
  /// Goes on in a new block that only this one leads to.
  void branch_from(BlockId from);

  // Variables: what reads find and writes leave.
  VariableId variable_of(std::string_view name, ScopeId* owner);
  DefId read(BlockId block, VariableId variable);
  DefId found(BlockId block, VariableId variable, std::vector<DefId>& open);
  void fill(std::vector<DefId>& open);
  DefId new_def(Def def);
  void bind(std::string_view name, Def def);
  void bind_target(NodeId target, DefKind kind, NodeId value);
  void use(NodeId name);

  // Statements.
  void flow(NodeId node, ScopeId scope);
  void statements(NodeId block);
  void statement(NodeId node);
  void simple(NodeId node);
  void assign(NodeId node);
  void import(NodeId node);
  void function(NodeId node);
  void class_(NodeId node);
  void if_(NodeId node);
  void loop(NodeId node);
  void with(NodeId node);
  void try_(NodeId node);
  void match(NodeId node);
  void leave(BlockId to);

  // Expressions.
  void expression(NodeId node);
  void target(NodeId node);
  void lambda(NodeId node);
  void comprehension(NodeId node);
  /// Runs `body` and then gives these names the definitions back that they had.
  template <typename Body>
  void with_own(const std::vector<std::string_view>& names, const Body& body);

  struct Loop {
    BlockId next, out;
  };
  struct Final {
    BlockId entry;
    bool escapes;
  };

  FlowGraph& graph_;
  const SyntaxTree& tree_;
  ScopeId scope_ = 0;
  FlowId flow_ = 0;
  BlockId block_ = 0;
  std::vector<Loop> loops_;
  std::vector<Final> finals_;
  std::vector<std::pair<NodeId, ScopeId>> waiting_;  ///< functions whose bodies are still to come
  std::vector<bool> sealed_;
  std::unordered_map<std::uint64_t, DefId> current_;
  std::unordered_map<BlockId, std::vector<DefId>> incomplete_;
  std::unordered_map<DefId, BlockId> block_of_phi_;
  std::unordered_map<VariableId, DefId> free_;
  std::vector<ScopeId> owner_;  ///< of each variable
  std::uint64_t steps_ = 0, most_steps_ = 0;
};

}  // namespace neutra::source
