#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/flow_graph.h"
#include "source/vocabulary.h"

namespace neutra::source {

enum class ValueKind : std::uint8_t {
  kPath,           ///< a module, class or function of a library
  kInstance,       ///< an object of a library's class; node: the call that made it
  kResult,         ///< what a library's function gave; node: the call
  kFunction,       ///< of the text; node: the kFunction
  kMethod,         ///< the same, of an object
  kClass,          ///< of the text; node: the kClass
  kLocalInstance,  ///< an object of such a class; node: the kClass
};

/// What an expression may be, as far as its text tells.
struct Value {
  ValueKind kind = ValueKind::kPath;
  std::string_view path = {};
  NodeId node = kNoNode;
  bool operator==(const Value&) const = default;
};

/// The values of expressions: names, attributes and calls followed through the definitions that
/// reach them, attributes of `self`, and arguments of functions that the text itself calls.
class Values {
 public:
  Values(const FlowGraph& graph, const Vocabulary& vocabulary);

  const FlowGraph& graph() const { return graph_; }
  const SyntaxTree& tree() const { return graph_.tree(); }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  /// At most kMostValues; none: nothing is known.
  const std::vector<Value>& of(NodeId expression) const;
  /// Kinds of objects that an expression may be: by its values, else by what is called of objects
  /// of its name, else by its name.
  Kinds kinds(NodeId expression) const;

  /// The calls in the text of a function or method of it.
  const std::vector<NodeId>& callers(NodeId function) const;
  /// The functions of the text that a call runs: itself, `__init__` of a class, `forward` or
  /// `__call__` of an object.
  std::vector<NodeId> callees(NodeId call) const;
  /// The values of `return` in a function.
  const std::vector<NodeId>& returns(NodeId function) const;
  /// The argument of a call; kNoNode: it isn't given. `position`: from 0, -1: by name only.
  NodeId argument(NodeId call, std::string_view name, int position) const;
  /// What a call gives to a parameter; kNoNode: it can't be told.
  NodeId argument_for(NodeId call, NodeId function, NodeId parameter) const;
  bool has_star_arguments(NodeId call) const;

  NodeId method(NodeId class_node, std::string_view name) const;
  /// What is assigned to `self.NAME` in a class, and in its body.
  std::vector<NodeId> attribute(NodeId class_node, std::string_view name) const;
  /// Paths of the libraries' classes that a class is derived from.
  std::vector<std::string_view> library_bases(NodeId class_node) const;
  const std::vector<NodeId>& classes() const { return class_nodes_; }
  /// The class whose method a function is; kNoNode: none.
  NodeId class_of(NodeId function) const;
  /// The last name of an expression: `step` of `self.a.step`, "" of what has none.
  std::string_view last_name(NodeId expression) const;
  /// All calls, in the order of the text.
  const std::vector<NodeId>& calls() const { return calls_; }

  static constexpr std::size_t kMostValues = 8;

 private:
  void index();
  std::vector<Value> find(NodeId node) const;
  void of_definition(DefId id, std::vector<Value>& found) const;
  void of_name(NodeId node, std::vector<Value>& found) const;
  void of_attribute(NodeId node, std::vector<Value>& found) const;
  void of_call(NodeId node, std::vector<Value>& found) const;
  void of_parameter(NodeId parameter, std::vector<Value>& found) const;
  void add_all(NodeId node, std::vector<Value>& found) const;
  std::string_view interned(std::string text) const;
  std::string imported_path(NodeId alias) const;
  Kinds kinds_of_path(std::string_view path) const;
  NodeId base_class(NodeId class_node) const;  ///< of the text

  const FlowGraph& graph_;
  const Vocabulary& vocabulary_;
  std::vector<NodeId> calls_, class_nodes_;
  std::unordered_map<NodeId, std::vector<NodeId>> callers_, returns_;
  std::unordered_map<NodeId, std::unordered_map<std::string_view, std::vector<NodeId>>> attributes_;
  /// What `name.attribute`, as it is written, is given outside of classes.
  std::unordered_map<std::string_view, std::vector<NodeId>> loose_attributes_;
  std::unordered_map<std::string_view, Kinds> kinds_by_methods_;
  mutable std::unordered_map<NodeId, std::vector<Value>> known_;
  mutable std::unordered_map<NodeId, Kinds> known_kinds_;
  mutable std::unordered_set<NodeId> open_;
  mutable std::unordered_set<std::string> paths_;
  mutable int depth_ = 0;
  mutable std::uint64_t steps_ = 0;
  std::uint64_t most_steps_ = 0;
};

}  // namespace neutra::source
