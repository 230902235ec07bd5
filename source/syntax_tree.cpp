#include "source/syntax_tree.h"

#include <algorithm>
#include <array>

namespace neutra::source {
namespace {

constexpr std::array kNames = {
    "None",       "Module",      "Block",      "Function",      "Class",      "Decorator",
    "Parameters", "Parameter",   "Annotation", "Arguments",     "Return",     "Delete",
    "Assign",     "AugAssign",   "AnnAssign",  "For",           "While",      "If",
    "With",       "WithItem",    "Try",        "Handler",       "Else",       "Finally",
    "Match",      "Case",        "Raise",      "Assert",        "Import",     "ImportFrom",
    "Alias",      "Global",      "Nonlocal",   "Expression",    "Pass",       "Break",
    "Continue",   "Name",        "Attribute",  "Call",          "Keyword",    "Starred",
    "Subscript",  "Slice",       "Binary",     "Unary",         "And",        "Or",
    "Compare",    "Conditional", "Lambda",     "Comprehension", "CompFor",    "Tuple",
    "List",       "Set",         "Dict",       "Await",         "Yield",      "Named",
    "String",     "Number",      "Constant",   "Identifier",    "DottedName", "Error"};
static_assert(kNames.size() == static_cast<std::size_t>(NodeKind::kError) + 1);

bool shows_text(NodeKind kind) {
  return kind == NodeKind::kName || kind == NodeKind::kNumber || kind == NodeKind::kConstant ||
         kind == NodeKind::kIdentifier || kind == NodeKind::kDottedName ||
         kind == NodeKind::kString;
}

}  // namespace

NodeId SyntaxTree::child(NodeId id, std::size_t index) const {
  NodeId child = nodes_[id].first;
  while (child != kNoNode && index-- > 0) child = nodes_[child].next;
  return child;
}

NodeId SyntaxTree::child_of_kind(NodeId id, NodeKind kind) const {
  for (NodeId child = nodes_[id].first; child != kNoNode; child = nodes_[child].next)
    if (nodes_[child].kind == kind) return child;
  return kNoNode;
}

NodeId SyntaxTree::last_of_kind(NodeId id, NodeKind kind) const {
  NodeId found = kNoNode;
  for (NodeId child = nodes_[id].first; child != kNoNode; child = nodes_[child].next)
    if (nodes_[child].kind == kind) found = child;
  return found;
}

std::size_t SyntaxTree::children(NodeId id) const {
  std::size_t count = 0;
  for (NodeId child = nodes_[id].first; child != kNoNode; child = nodes_[child].next) ++count;
  return count;
}

NodeId SyntaxTree::above(NodeId id, std::initializer_list<NodeKind> kinds) const {
  for (NodeId up = nodes_[id].parent; up != kNoNode; up = nodes_[up].parent)
    if (std::find(kinds.begin(), kinds.end(), nodes_[up].kind) != kinds.end()) return up;
  return kNoNode;
}

NodeId SyntaxTree::statement_of(NodeId id) const {
  while (id != kNoNode &&
         (!is_statement(nodes_[id].kind) || nodes_[nodes_[id].parent].kind != NodeKind::kBlock)) {
    if (nodes_[id].kind == NodeKind::kModule) return id;
    id = nodes_[id].parent;
  }
  return id;
}

std::string_view SyntaxTree::name(NodeId id) const {
  const NodeId identifier = child_of_kind(id, NodeKind::kIdentifier);
  return identifier == kNoNode ? std::string_view() : text(identifier);
}

std::string SyntaxTree::dump(NodeId id) const {
  const Node& node = nodes_[id];
  std::string text = kNames[static_cast<std::size_t>(node.kind)];
  if (shows_text(node.kind)) text += " " + std::string(this->text(id));
  if (node.stars > 0) text += std::string(node.stars, '*');
  if (node.first == kNoNode) return text;
  text += "(";
  for (NodeId child = node.first; child != kNoNode; child = nodes_[child].next)
    text += (child == node.first ? "" : ", ") + dump(child);
  return text + ")";
}

std::string_view string_content(std::string_view literal) {
  const std::size_t quote = literal.find_first_of("\"'");
  if (quote == std::string_view::npos) return literal;
  const char mark = literal[quote];
  literal.remove_prefix(quote);
  std::size_t marks = literal.starts_with(std::string(3, mark)) && literal.size() >= 6 ? 3 : 1;
  literal.remove_prefix(marks);
  while (marks-- > 0 && literal.ends_with(mark)) literal.remove_suffix(1);
  return literal;
}

NodeId part_of(const SyntaxTree& tree, NodeId value, std::uint32_t path) {
  std::vector<std::uint32_t> indices;
  for (; path != 0; path >>= 8) indices.push_back((path & 0xFF) - 1);
  while (!indices.empty()) {
    if (value == kNoNode ||
        (tree.kind(value) != NodeKind::kTuple && tree.kind(value) != NodeKind::kList))
      return kNoNode;
    value = tree.child(value, indices.back());
    indices.pop_back();
  }
  return value;
}

}  // namespace neutra::source
