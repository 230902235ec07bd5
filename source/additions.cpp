#include "source/additions.h"

namespace neutra::source {
namespace {

constexpr std::size_t kMost = 64;  ///< additions that are followed of one name

}  // namespace

Additions::Additions(const SyntaxTree& tree) : tree_(tree) {
  for (NodeId id = 1; id < tree.size(); ++id) {
    const NodeId first = tree[id].first;
    if (first == kNoNode) continue;
    if (tree.kind(id) == NodeKind::kAugAssign && tree.kind(tree[id].last) == NodeKind::kList) {
      for (NodeId one = tree[tree[id].last].first; one != kNoNode; one = tree[one].next)
        elements_[tree.text(first)].push_back(one);
    } else if (tree.kind(id) == NodeKind::kAssign && tree.kind(first) == NodeKind::kSubscript) {
      if (const NodeId key = tree.child(first, 1); key != kNoNode)
        keys_[tree.text(tree[first].first)].push_back(key);
    } else if (tree.kind(id) == NodeKind::kCall && tree.kind(first) == NodeKind::kAttribute) {
      const std::string_view method = tree.name(first);
      const std::string_view object = tree.text(tree[first].first);
      if (method == "append" || method == "add_module") elements_[object].push_back(tree[id].last);
      if (method == "extend" && tree.kind(tree[id].last) == NodeKind::kList)
        for (NodeId one = tree[tree[id].last].first; one != kNoNode; one = tree[one].next)
          elements_[object].push_back(one);
    }
  }
}

/// The function that a name belongs to; the class of `self.name`.
NodeId Additions::home(NodeId name) const {
  return tree_.text(name).starts_with("self.") ? tree_.above(name, {NodeKind::kClass})
                                               : tree_.above(name, {NodeKind::kFunction});
}

std::vector<NodeId> Additions::of(const Index& index, NodeId name) const {
  std::vector<NodeId> result;
  const auto found = index.find(tree_.text(name));
  if (found == index.end()) return result;
  const NodeId own = home(name);
  const NodeKind scope =
      tree_.text(name).starts_with("self.") ? NodeKind::kClass : NodeKind::kFunction;
  for (std::size_t i = 0; i < found->second.size() && result.size() < kMost; ++i)
    if (tree_.above(found->second[i], {scope}) == own) result.push_back(found->second[i]);
  return result;
}

}  // namespace neutra::source
