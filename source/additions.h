#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/syntax_tree.h"

namespace neutra::source {

/// What a text puts into lists, models and dictionaries after it made them: `layers.append(x)`,
/// `layers += [x]`, `model.add_module("name", x)`, `state["key"] = x`. By the text of the name that
/// they have, within the function of it (of `self.name`, within its class).
class Additions {
 public:
  explicit Additions(const SyntaxTree& tree);

  /// What is put behind the elements of `name`, an expression, in the order of the text.
  std::vector<NodeId> elements(NodeId name) const { return of(elements_, name); }
  /// The keys that a dictionary gets, as expressions.
  std::vector<NodeId> keys(NodeId name) const { return of(keys_, name); }

 private:
  using Index = std::unordered_map<std::string_view, std::vector<NodeId>>;
  std::vector<NodeId> of(const Index& index, NodeId name) const;
  NodeId home(NodeId name) const;

  const SyntaxTree& tree_;
  Index elements_, keys_;
};

}  // namespace neutra::source
