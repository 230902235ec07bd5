#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/syntax_tree.h"

namespace neutra::source {

using ScopeId = std::uint32_t;     ///< 0: the module's
using VariableId = std::uint32_t;  ///< a name in a scope
using DefId = std::uint32_t;
using BlockId = std::uint32_t;
using FlowId = std::uint32_t;  ///< 0: the module's
inline constexpr DefId kNoDef = 0;
inline constexpr std::uint32_t kNoVariable = 0xFFFFFFFF;

/// Names that are bound together: those of the module, a class or a function.
struct Scope {
  NodeId node = kNoNode;  ///< kModule, kClass or kFunction
  ScopeId parent = 0;
  FlowId flow = 0;  ///< in which its statements run
  std::unordered_map<std::string_view, VariableId> names;
  std::unordered_map<std::string_view, ScopeId> elsewhere;  ///< by `global` and `nonlocal`
};

enum class DefKind : std::uint8_t {
  kUnbound,    ///< nothing was bound on some way here
  kFree,       ///< a variable of a scope around: any of its definitions
  kParameter,  ///< node: the kParameter
  kValue,      ///< value: the expression; `path` says which part of it
  kAugmented,  ///< node: the kAugAssign
  kElement,    ///< an element of value
  kEntered,    ///< what value gives to `with ... as`
  kImport,     ///< node: the kAlias, or the kImportFrom of a star
  kFunction,   ///< node
  kClass,      ///< node
  kOther,      ///< of an `except`, a pattern, deleted
  kPhi         ///< any of `operands`: paths meet here
};

/// A place where a variable gets a value.
struct Def {
  DefKind kind = DefKind::kUnbound;
  VariableId variable = 0;
  NodeId node = kNoNode;   ///< the name that is bound, or the statement
  NodeId value = kNoNode;  ///< an expression
  std::uint32_t path =
      0;  ///< of unpacked tuples: 1 + index, a byte for each level, the last lowest
  std::vector<DefId> operands = {};
};

/// Expressions and statements that run one after the other.
struct Block {
  FlowId flow = 0;
  std::vector<BlockId> next, previous;
  std::vector<NodeId>
      events;  ///< calls, attributes, assignments, ... in the order that they happen
};

/// The control flow graph of the module or of a function. Bodies of classes run where they stand.
struct Flow {
  NodeId node = kNoNode;  ///< kModule or kFunction
  BlockId entry = 0, exit = 0;
  std::vector<BlockId> blocks;
};

/// Where an event happens.
struct Place {
  BlockId block = 0;
  std::uint32_t index = 0;
  bool is = false;
};

/// Scopes, control flow and reaching definitions (static single assignment: Braun et al.,
/// doi:10.1007/978-3-642-37051-9_6) of a tree. Nothing is evaluated. Time grows with the tree's
/// size: where paths are too many, a use has no definition (kNoDef).
class FlowGraph {
 public:
  explicit FlowGraph(const SyntaxTree& tree);

  const SyntaxTree& tree() const { return tree_; }
  const std::vector<Scope>& scopes() const { return scopes_; }
  const std::vector<Flow>& flows() const { return flows_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const Def& def(DefId id) const { return defs_[id]; }
  std::size_t defs() const { return defs_.size(); }

  /// The definition that a kName reads; kNoDef for one that is bound nowhere in the text.
  DefId definition(NodeId name) const { return definitions_[name]; }
  /// All definitions of a variable, phis left out.
  const std::vector<DefId>& definitions_of(VariableId variable) const { return all_[variable]; }
  /// The definitions that may reach: phis resolved, variables of scopes around as all of theirs.
  /// At most kMostDefinitions.
  std::vector<DefId> reaching(DefId id) const;
  /// The kName nodes that read exactly this definition, or a phi of it.
  std::vector<NodeId> uses(DefId id) const;
  /// The definitions that bind the names of a statement or target.
  const std::vector<DefId>& bound_by(NodeId name) const;

  Place place(NodeId event) const { return places_[event]; }
  /// The flow that a node is in; of a function itself: the one around.
  FlowId flow_of(NodeId id) const;
  /// The flow of a kFunction's body.
  FlowId body_of(NodeId function) const;
  ScopeId scope_of(NodeId class_or_function) const;

  static constexpr std::size_t kMostDefinitions = 24;

 private:
  friend class FlowBuilder;
  const SyntaxTree& tree_;
  std::vector<Scope> scopes_;
  std::vector<Flow> flows_;
  std::vector<Block> blocks_;
  std::vector<Def> defs_;
  std::vector<DefId> definitions_;
  std::vector<std::vector<DefId>> all_;
  std::vector<Place> places_;
  std::unordered_map<NodeId, ScopeId> scope_of_node_;
  std::unordered_map<NodeId, FlowId> flow_of_node_;
  std::unordered_map<DefId, std::vector<NodeId>> uses_;
  std::unordered_map<DefId, std::vector<DefId>> phis_of_;
  std::unordered_map<NodeId, std::vector<DefId>> bound_;
};

}  // namespace neutra::source
