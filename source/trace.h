#pragma once

#include <vector>

#include "source/additions.h"
#include "source/values.h"

namespace neutra::source {

/// Where values come from and where they go, past what leaves them as they are (views, moves to a
/// device, subscripts: Vocabulary::keeps_value()), through functions and models of the text.
class Tracer {
 public:
  explicit Tracer(const Values& values)
      : values_(values), tree_(values.tree()), additions_(values.tree()) {}

  /// The expressions that a value may come from: calls, operators, parameters that nobody in the
  /// text gives a value to. For a Sequential: the call that makes its last layer.
  std::vector<NodeId> origins(NodeId expression) const;

  /// What a model gives, as origins: of a class its `forward`, of a Sequential its last layer;
  /// without a `forward` in the text, the layers that it has. `object`: the kClass, the
  /// kFunction of a `forward` without one, or the call that makes a library's object.
  std::vector<NodeId> outputs(NodeId object) const;

  /// What the text puts into lists, models and dictionaries.
  const Additions& additions() const { return additions_; }

  /// All expressions that a value is computed from, at any remove: operands, arguments, and what
  /// the names among them were given.
  std::vector<NodeId> inputs(NodeId expression) const;

  /// Is an origin one of which the text tells nothing more: a name without a value, a parameter, a
  /// call of something unknown?
  bool is_unknown(NodeId origin) const;

  /// The nodes that use the value of an expression: the call that it is an argument or the object
  /// of, the operator, the assignment to what is no variable, `return`.
  std::vector<NodeId> sinks(NodeId expression) const;
  /// The same of all uses of the variable that a name reads.
  std::vector<NodeId> sinks_of_variable(NodeId name) const;

 private:
  struct Walk {
    std::vector<NodeId> found;
    std::vector<NodeId> seen;
    bool first_visit(NodeId node);
  };
  void origin(NodeId node, std::uint32_t path, int depth, Walk& walk) const;
  void origin_of_call(NodeId node, std::uint32_t path, int depth, Walk& walk) const;
  bool origin_of_value(const Value& value, std::uint32_t path, int depth, Walk& walk) const;
  bool layers_of(NodeId class_node, Walk& walk) const;
  std::vector<NodeId> last_layers(NodeId sequential) const;
  void last_elements(NodeId list, int depth, std::vector<NodeId>& found) const;
  std::vector<NodeId> made_as(NodeId name) const;
  bool last_additions(NodeId name, NodeId before, std::vector<NodeId>& found) const;
  void sink(NodeId node, Walk& walk) const;

  const Values& values_;
  const SyntaxTree& tree_;
  Additions additions_;
};

}  // namespace neutra::source
