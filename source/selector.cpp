#include "source/selector.h"

#include "base/error.h"
#include "base/words.h"
#include "source/analysis.h"

namespace neutra::source {

Selector::Selector(const Json& json, const std::string& where) {
  static const std::vector<std::string> words = {"start",  "receiver", "callee",
                                                 "target", "assigned", "origin"};
  if (json.is_string()) {
    what_ = json.get<std::string>();
    if (std::find(words.begin(), words.end(), what_) == words.end())
      throw input_error(where + ": found '" + what_ + "'; allowed: " + allowed_words(what_, words));
    return;
  }
  const Json* argument = member(json, "argument");
  const Json* position = member(json, "position");
  const Json* part = member(json, "part");
  if (argument != nullptr && argument->is_string()) name_ = argument->get<std::string>();
  if (position != nullptr && position->is_number_integer()) position_ = position->get<int>();
  if (const Json* of = member(json, "of")) of_origin_ = *of == "origin";
  if (part != nullptr && part->is_string()) {
    what_ = part->get<std::string>();
  } else if (!name_.empty() || position_ >= 0) {
    what_ = "argument";
  } else {
    throw input_error(where + ": found " + json.dump() + "; allowed: " + join(words) +
                      ", or {\"argument\": NAME, \"position\": N}");
  }
}

NodeId Selector::call(const Situation& situation) const {
  return of_origin_ && !situation.evidence.empty() ? situation.evidence.back() : situation.start;
}

NodeId Selector::select(const Analysis& analysis, const Situation& situation) const {
  const SyntaxTree& tree = analysis.tree();
  const NodeId node = call(situation);
  if (what_ == "start") return node;
  if (what_ == "origin") return situation.evidence.empty() ? kNoNode : situation.evidence.back();
  if (what_ == "argument")
    return tree.kind(node) == NodeKind::kCall || tree.kind(node) == NodeKind::kClass
               ? analysis.values().argument(node, name_, position_)
               : kNoNode;
  if (what_ == "callee") return tree.kind(node) == NodeKind::kCall ? tree[node].first : kNoNode;
  if (what_ == "receiver") return receiver(tree, node);
  if (what_ == "assigned") {
    const NodeKind kind = tree.kind(node);
    return kind == NodeKind::kAssign || kind == NodeKind::kAugAssign ? tree[node].last : kNoNode;
  }
  // target: of the assignment that the node is the value of, or a part of.
  NodeId below = node;
  for (NodeId up = tree[node].parent; up != kNoNode; below = up, up = tree[up].parent) {
    if (tree.kind(up) == NodeKind::kAssign || tree.kind(up) == NodeKind::kAnnAssign)
      return tree[up].first == below ? kNoNode : tree[up].first;
    if (is_statement(tree.kind(up))) return kNoNode;
  }
  return kNoNode;
}

}  // namespace neutra::source
