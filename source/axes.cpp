#include "source/axes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "source/analysis.h"

namespace neutra::source {
namespace {

/// A size of a tensor: whose, and of which axis.
struct Size {
  std::string tensor;
  int axis = 0;
};

/// `x` of `x.shape` and `x.size()`; kNoNode of others.
NodeId shape_of(const SyntaxTree& tree, NodeId node) {
  if (tree.kind(node) == NodeKind::kCall) {
    const NodeId callee = tree[node].first;
    if (tree.kind(callee) != NodeKind::kAttribute || tree.name(callee) != "size" ||
        tree[callee].next != kNoNode)
      return kNoNode;
    return tree[callee].first;
  }
  if (tree.kind(node) == NodeKind::kAttribute && tree.name(node) == "shape")
    return tree[node].first;
  return kNoNode;
}

std::optional<int> whole(const Analysis& analysis, NodeId node) {
  if (node == kNoNode) return std::nullopt;
  const std::optional<std::string> text = analysis.literal(node);
  if (!text || text->empty() || text->size() > 2 ||
      text->find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoi(*text);
}

std::optional<Size> size_of(const Analysis& analysis, NodeId node) {
  const SyntaxTree& tree = analysis.tree();
  if (tree.kind(node) == NodeKind::kSubscript) {
    const NodeId tensor = shape_of(tree, tree[node].first);
    const std::optional<int> axis = whole(analysis, tree.child(node, 1));
    if (tensor != kNoNode && axis) return Size{std::string(tree.text(tensor)), *axis};
    return std::nullopt;
  }
  if (tree.kind(node) == NodeKind::kCall) {
    const NodeId callee = tree[node].first;
    if (tree.kind(callee) != NodeKind::kAttribute || tree.name(callee) != "size")
      return std::nullopt;
    const std::optional<int> axis = whole(analysis, tree[callee].next);
    if (axis) return Size{std::string(tree.text(tree[callee].first)), *axis};
    return std::nullopt;
  }
  if (tree.kind(node) != NodeKind::kName) return std::nullopt;
  const DefId definition = analysis.graph().definition(node);
  if (definition == kNoDef) return std::nullopt;
  const std::vector<DefId> all = analysis.graph().reaching(definition);
  if (all.size() != 1) return std::nullopt;
  const Def& def = analysis.graph().def(all.front());
  if (def.kind != DefKind::kValue) return std::nullopt;
  if (def.path == 0) return size_of(analysis, def.value);
  const NodeId tensor = shape_of(tree, def.value);
  if (tensor == kNoNode || def.path > 0xFF) return std::nullopt;
  return Size{std::string(tree.text(tensor)), static_cast<int>(def.path) - 1};
}

}  // namespace

bool exchanges_axes(const Analysis& analysis, NodeId call) {
  const SyntaxTree& tree = analysis.tree();
  if (tree.kind(call) != NodeKind::kCall) return false;
  const NodeId object = receiver(tree, call);
  if (object == kNoNode) return false;
  NodeId argument = tree[tree[call].first].next;
  // The sizes may be one tuple, and the tensor of torch.reshape() the first argument.
  if (argument != kNoNode &&
      (tree.kind(argument) == NodeKind::kTuple || tree.kind(argument) == NodeKind::kList))
    argument = tree[argument].first;
  std::vector<Size> sizes;
  for (; argument != kNoNode; argument = tree[argument].next)
    if (const std::optional<Size> size = size_of(analysis, argument)) sizes.push_back(*size);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t j = i + 1; j < sizes.size(); ++j)
      if (sizes[i].tensor == sizes[j].tensor && sizes[i].tensor == tree.text(object) &&
          sizes[i].axis > sizes[j].axis)
        return true;
  return false;
}

}  // namespace neutra::source
