#include <algorithm>

#include "base/strings.h"
#include "source/shape_flow.h"

namespace neutra::source {
namespace {

constexpr std::size_t kMostRounds = 64;  ///< of a loop that are run one by one

}  // namespace

bool ShapeFlow::exec_block(NodeId block) {
  if (tree_.kind(block) != NodeKind::kBlock) return exec(block);
  for (NodeId statement = tree_[block].first; statement != kNoNode;
       statement = tree_[statement].next)
    if (exec(statement)) return true;
  return false;
}

bool ShapeFlow::exec(NodeId node) {
  if (node == kNoNode || !tick()) return false;
  switch (tree_.kind(node)) {
    case NodeKind::kFunction:
    case NodeKind::kClass: {
      Thing thing;
      thing.kind = tree_.kind(node) == NodeKind::kClass ? ThingKind::kClass : ThingKind::kFunction;
      thing.node = node;
      defined_in_[node] = runs_.back().names;
      set(*runs_.back().names, tree_.name(node), thing);
      return false;
    }
    case NodeKind::kReturn: {
      Thing value = eval(tree_[node].first);
      runs_.back().returned.push_back(std::move(value));
      return true;
    }
    case NodeKind::kRaise:
    case NodeKind::kBreak:
    case NodeKind::kContinue:
      return true;
    case NodeKind::kExpression:
    case NodeKind::kAssert:
      eval(tree_[node].first);
      return false;
    case NodeKind::kAssign:
    case NodeKind::kAnnAssign:
    case NodeKind::kAugAssign:
      exec_assign(node);
      return false;
    case NodeKind::kDelete:
      for (NodeId target = tree_[node].first; target != kNoNode; target = tree_[target].next)
        assign(target, {});
      return false;
    case NodeKind::kIf:
      return exec_if(tree_[node].first);
    case NodeKind::kFor:
      return exec_for(node);
    case NodeKind::kWhile: {
      const NodeId test = tree_[node].first;
      unknown_loop([&] {
        eval(test);
        return exec_block(tree_[test].next);
      });
      return false;
    }
    case NodeKind::kWith:
      return exec_with(node);
    case NodeKind::kTry:
      return exec_try(node);
    case NodeKind::kMatch:
      return exec_match(node);
    default:
      return false;
  }
}

/// `test` and what follows: its block, other tests with theirs, the block of `else`.
bool ShapeFlow::exec_if(NodeId test) {
  if (test == kNoNode) return false;
  const NodeId block = tree_[test].next;
  if (block == kNoNode) return exec_block(test);  // else
  const std::optional<bool> holds = truth(eval(test));
  if (holds) return *holds ? exec_block(block) : exec_if(tree_[block].next);
  return branches({[&] { return exec_block(block); }, [&] { return exec_if(tree_[block].next); }});
}

bool ShapeFlow::has_jumps(NodeId node) const {
  // Nodes are made from within outwards, so a subtree is walked, not counted through.
  std::vector<NodeId> open{node};
  while (!open.empty()) {
    const NodeId one = open.back();
    open.pop_back();
    const NodeKind kind = tree_.kind(one);
    if (kind == NodeKind::kBreak || kind == NodeKind::kContinue) return true;
    if (!is_statement(kind)) continue;
    for (NodeId child = tree_[one].first; child != kNoNode; child = tree_[child].next)
      open.push_back(child);
  }
  return false;
}

bool ShapeFlow::exec_for(NodeId node) {
  const NodeId target = tree_[node].first;
  const NodeId iterable = tree_[target].next;
  const NodeId body = tree_[iterable].next;
  const auto items = items_of(eval(iterable));
  if (items && items->size() <= kMostRounds && !has_jumps(body)) {
    for (const Thing& item : *items) {
      assign(target, item);
      if (exec_block(body)) return true;
    }
  } else {
    unknown_loop([&] {
      assign(target, {});
      return exec_block(body);
    });
  }
  if (tree_[body].next != kNoNode) return exec_block(tree_[body].next);
  return false;
}

bool ShapeFlow::exec_with(NodeId node) {
  bool wrong_on_purpose = false;
  NodeId body = kNoNode;
  for (NodeId item = tree_[node].first; item != kNoNode; item = tree_[item].next) {
    if (tree_.kind(item) != NodeKind::kWithItem) {
      body = item;
      continue;
    }
    const NodeId expression = tree_[item].first;
    wrong_on_purpose =
        wrong_on_purpose || lower(tree_.text(expression)).find("raises") != std::string::npos;
    eval(expression);
    if (tree_[expression].next != kNoNode) assign(tree_[expression].next, {});
  }
  if (wrong_on_purpose) ++math_.silent;
  const bool ended = exec_block(body);
  if (wrong_on_purpose) --math_.silent;
  return ended && !wrong_on_purpose;
}

bool ShapeFlow::exec_try(NodeId node) {
  const NodeId body = tree_[node].first;
  const bool caught = tree_.child_of_kind(node, NodeKind::kHandler) != kNoNode;
  if (!caught) {
    const bool ended = exec_block(body);
    for (NodeId part = tree_[body].next; part != kNoNode; part = tree_[part].next)
      exec_block(tree_[part].first);
    return ended;
  }
  // Where an error is expected, nothing is reported, and it is not known how far it runs.
  ++math_.silent;
  Changes changes;
  tried([&] { return exec_block(body); }, changes);
  forget(changes);
  for (NodeId part = tree_[body].next; part != kNoNode; part = tree_[part].next) {
    tried([&] { return exec_block(tree_[part].last); }, changes);
    forget(changes);
  }
  --math_.silent;
  return false;
}

bool ShapeFlow::exec_match(NodeId node) {
  std::vector<Part> parts{[] { return false; }};
  for (NodeId one = tree_[tree_[node].first].next; one != kNoNode; one = tree_[one].next)
    parts.push_back([this, one] {
      const NodeId names = tree_[one].first;
      for (NodeId name = tree_[names].first; name != kNoNode; name = tree_[name].next)
        set(*runs_.back().names, tree_.text(name), {});
      return exec_block(tree_[one].last);
    });
  return branches(parts);
}

void ShapeFlow::exec_assign(NodeId node) {
  const NodeId value = tree_[node].last;
  if (tree_.kind(node) == NodeKind::kAugAssign) {
    const NodeId target = tree_[node].first;
    const std::string_view sign = sign_between(target, value);
    const Thing before = eval(target);
    const Thing added = eval(value);
    if (before.is(ThingKind::kList)) {
      const auto items = items_of(added);
      std::vector<Thing> all = before.object->items;
      if (items) all.insert(all.end(), items->begin(), items->end());
      set_items(*before.object, std::move(all), before.object->opaque || !items || sign != "+");
      return;
    }
    assign(target, binary(sign, before, added, node));
    return;
  }
  if (tree_.kind(value) == NodeKind::kAnnotation) return;
  const Thing thing = eval(value);
  for (NodeId target = tree_[node].first; target != value; target = tree_[target].next)
    if (tree_.kind(target) != NodeKind::kAnnotation) assign(target, thing);
}

void ShapeFlow::assign(NodeId target, const Thing& value) {
  switch (tree_.kind(target)) {
    case NodeKind::kName:
      set(*runs_.back().names, tree_.text(target), value);
      return;
    case NodeKind::kAttribute: {
      const Thing base = eval(tree_[target].first);
      if (base.is(ThingKind::kInstance))
        set(*base.object, tree_.name(target), value);
      else if (base.is(ThingKind::kChain))
        set_items(*base.object, {}, true);
      else if (base.is(ThingKind::kLayer))
        set(*base.object, tree_.name(target), {});
      return;
    }
    case NodeKind::kSubscript: {
      const Thing base = eval(tree_[target].first);
      if (base.is(ThingKind::kList) || base.is(ThingKind::kChain))
        set_items(*base.object, {}, true);
      return;
    }
    case NodeKind::kTuple:
    case NodeKind::kList: {
      const auto items = items_of(value);
      bool fits = items && items->size() == tree_.children(target) &&
                  tree_.child_of_kind(target, NodeKind::kStarred) == kNoNode;
      std::size_t i = 0;
      for (NodeId part = tree_[target].first; part != kNoNode; part = tree_[part].next, ++i) {
        Thing one = fits ? (*items)[i] : Thing{};
        if (!fits && value.is(ThingKind::kSizes) && i == 0 && !value.shape->ranked) {
          one.kind = ThingKind::kNumber;
          one.number = value.shape->lead;
        }
        assign(part, one);
      }
      return;
    }
    case NodeKind::kStarred:
      return assign(tree_[target].first, {});
    default:
      return;
  }
}

}  // namespace neutra::source
