#pragma once

#include "source/syntax_tree.h"

namespace neutra::source {

/// Makes the nodes of a tree, which the two parts of the parser share.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string_view text) : tree_(text) {}

  SyntaxTree& tree() { return tree_; }
  Node& node(NodeId id) { return tree_.nodes_[id]; }
  void reserve(std::size_t nodes) { tree_.nodes_.reserve(nodes); }
  void set_root(NodeId id) { tree_.root_ = id; }
  void set_comments(std::vector<Comment> comments) { tree_.comments_ = std::move(comments); }
  void count_error() { ++tree_.errors_; }

  NodeId make(NodeKind kind, std::uint32_t begin, std::uint32_t end) {
    Node node;
    node.kind = kind;
    node.begin = begin;
    node.end = end;
    tree_.nodes_.push_back(node);
    return static_cast<NodeId>(tree_.nodes_.size() - 1);
  }

  /// `child` as the last child of `parent`, whose range then covers it.
  void add(NodeId parent, NodeId child) {
    if (child == kNoNode) return;
    Node& above = tree_.nodes_[parent];
    Node& below = tree_.nodes_[child];
    below.parent = parent;
    if (above.last == kNoNode)
      above.first = child;
    else
      tree_.nodes_[above.last].next = child;
    above.last = child;
    if (below.height >= above.height) above.height = static_cast<std::uint16_t>(below.height + 1);
    if (below.end > above.end) above.end = below.end;
    if (below.begin < above.begin) above.begin = below.begin;
  }

  /// A new node around one that has no parent yet.
  NodeId wrap(NodeKind kind, NodeId child) {
    const NodeId id = make(kind, node(child).begin, node(child).end);
    add(id, child);
    return id;
  }

 private:
  SyntaxTree tree_;
};

}  // namespace neutra::source
