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
  if (const NodeId part = part_of(tree, def.value, def.path); part != kNoNode)
    return size_of(analysis, part);
  const NodeId tensor = shape_of(tree, def.value);
  if (tensor == kNoNode || def.path > 0xFF) return std::nullopt;
  return Size{std::string(tree.text(tensor)), static_cast<int>(def.path) - 1};
}

/// The sizes of a new tensor that are all written as numbers; none of others. Axes of one element
/// don't count: a view may move them.
std::vector<std::string> written_sizes(const Analysis& analysis, NodeId argument) {
  const SyntaxTree& tree = analysis.tree();
  std::vector<std::string> result;
  for (; argument != kNoNode; argument = tree[argument].next) {
    if (tree.kind(argument) == NodeKind::kKeyword) continue;
    const std::optional<std::string> text = analysis.literal(argument);
    if (!text || text->empty() || text->find_first_not_of("0123456789") != std::string::npos)
      return {};
    if (*text != "1") result.push_back(*text);
  }
  return result;
}

/// A list or tuple of sizes is one argument.
NodeId first_size(const SyntaxTree& tree, NodeId argument) {
  if (argument != kNoNode &&
      (tree.kind(argument) == NodeKind::kTuple || tree.kind(argument) == NodeKind::kList))
    return tree[argument].first;
  return argument;
}

/// Was the tensor made with these sizes, in another order?
bool made_otherwise(const Analysis& analysis, NodeId object, NodeId argument) {
  static const std::vector<std::string_view> makers = {"torch.rand", "torch.randn", "torch.zeros",
                                                       "torch.ones", "torch.empty", "torch.Tensor"};
  const SyntaxTree& tree = analysis.tree();
  const std::vector<std::string> wanted = written_sizes(analysis, argument);
  if (wanted.size() < 2 || tree.kind(object) != NodeKind::kName) return false;
  for (const NodeId maker : analysis.tracer().origins(object)) {
    if (tree.kind(maker) != NodeKind::kCall) continue;
    for (const Value& value : std::vector<Value>(analysis.values().of(tree[maker].first))) {
      if (value.kind != ValueKind::kPath ||
          std::find(makers.begin(), makers.end(), value.path) == makers.end())
        continue;
      const std::vector<std::string> made =
          written_sizes(analysis, first_size(tree, tree[tree[maker].first].next));
      if (made != wanted &&
          std::is_permutation(made.begin(), made.end(), wanted.begin(), wanted.end()))
        return true;
    }
  }
  return false;
}

bool is_transposition(const SyntaxTree& tree, NodeId node) {
  static const std::vector<std::string_view> names = {"transpose", "permute",  "t",      "T",
                                                      "mT",        "swapaxes", "movedim"};
  return tree.kind(node) == NodeKind::kAttribute &&
         std::find(names.begin(), names.end(), tree.name(node)) != names.end();
}

/// Are the axes exchanged on purpose, before or behind: `x.transpose(0, 1)...view(...)`,
/// `x.view(...).transpose(0, 1)`?
bool transposed_too(const Analysis& analysis, NodeId object, NodeId call) {
  const SyntaxTree& tree = analysis.tree();
  if (is_transposition(tree, tree[call].parent)) return true;
  const std::vector<NodeId> inputs = analysis.tracer().inputs(object);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](NodeId input) { return is_transposition(tree, input); });
}

enum class Exchange { kNone, kOfOther, kCertain };

/// What the sizes that are read from tensors tell of a view: those of itself in another order, or
/// the first two of what it was computed from.
Exchange exchange_of(const Analysis& analysis, NodeId call) {
  const SyntaxTree& tree = analysis.tree();
  if (tree.kind(call) != NodeKind::kCall) return Exchange::kNone;
  const NodeId object = receiver(tree, call);
  if (object == kNoNode) return Exchange::kNone;
  std::vector<Size> sizes;
  bool leading = true;  // Are all sizes so far read from a tensor?
  bool swapped = false;
  for (NodeId argument = first_size(tree, tree[tree[call].first].next); argument != kNoNode;
       argument = tree[argument].next) {
    const std::optional<Size> size = size_of(analysis, argument);
    leading = leading && size;
    if (!size) continue;
    for (const Size& earlier : sizes) {
      if (earlier.tensor != size->tensor || earlier.axis <= size->axis) continue;
      if (size->tensor == tree.text(object)) return Exchange::kCertain;
      swapped = swapped || (leading && sizes.size() == 1);
    }
    sizes.push_back(*size);
  }
  return swapped && !transposed_too(analysis, object, call) ? Exchange::kOfOther : Exchange::kNone;
}

}  // namespace

bool exchanges_axes(const Analysis& analysis, NodeId call) {
  return exchange_of(analysis, call) == Exchange::kCertain;
}

bool seems_to_exchange_axes(const Analysis& analysis, NodeId call) {
  const Exchange exchange = exchange_of(analysis, call);
  if (exchange != Exchange::kNone) return exchange == Exchange::kOfOther;
  const SyntaxTree& tree = analysis.tree();
  const NodeId object = receiver(tree, call);
  return object != kNoNode &&
         made_otherwise(analysis, object, first_size(tree, tree[tree[call].first].next));
}

}  // namespace neutra::source
