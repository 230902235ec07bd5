#include "source/paths.h"

#include <algorithm>

namespace neutra::source {

NodeId receiver(const SyntaxTree& tree, NodeId call) {
  const NodeId callee = tree.kind(call) == NodeKind::kCall ? tree[call].first : call;
  return tree.kind(callee) == NodeKind::kAttribute ? tree[callee].first : kNoNode;
}

bool same_object(NodeId one, NodeId other, const Values& values) {
  if (one == kNoNode || other == kNoNode) return one == other;
  const std::vector<Value>& first = values.of(one);
  const std::vector<Value>& second = values.of(other);
  if (!first.empty() && !second.empty())
    return std::any_of(first.begin(), first.end(), [&](const Value& value) {
      return std::find(second.begin(), second.end(), value) != second.end();
    });
  return values.tree().text(one) == values.tree().text(other) ||
         values.last_name(one) == values.last_name(other);
}

Hits::Hits(const Matcher& matcher, const Values& values) {
  const FlowGraph& graph = values.graph();
  std::vector<NodeId> open;
  const auto add_function = [&](FlowId flow) {
    const NodeId function = graph.flows()[flow].node;
    if (functions_.insert(function).second) open.push_back(function);
  };
  for (const Block& block : graph.blocks()) {
    for (const NodeId event : block.events) {
      if (!matcher.matches(event, values)) continue;
      direct_.insert(event);
      list_.push_back(event);
      add_function(block.flow);
    }
  }
  std::sort(list_.begin(), list_.end());
  while (!open.empty()) {
    const NodeId function = open.back();
    open.pop_back();
    for (const NodeId call : values.callers(function)) {
      calls_.insert(call);
      const Place place = graph.place(call);
      if (place.is) add_function(graph.blocks()[place.block].flow);
    }
  }
}

Paths::Paths(const PathQuestion& question, const Values& values)
    : question_(question), values_(values) {
  const std::vector<Block>& blocks = values.graph().blocks();
  state_.assign(blocks.size(), question.every);
  const std::vector<Flow>& flows = values.graph().flows();
  border_.assign(flows.size(), question.every);
  most_steps_ = 100 * static_cast<std::uint64_t>(values.tree().size()) + 100000;
  const auto count = static_cast<BlockId>(blocks.size());
  bool changed = true;
  for (int round = 0; changed && !undecided() && round < 60; ++round) {
    changed = false;
    for (BlockId i = 0; i < count; ++i) {
      const BlockId block = question.forward ? count - 1 - i : i;
      const bool now = through(block, beyond(block));
      if (now == state_[block]) continue;
      state_[block] = now;
      changed = true;
    }
    for (FlowId flow = 0; flow < flows.size(); ++flow) {
      const bool now = at_border(flows[flow]);
      if (now == border_[flow]) continue;
      border_[flow] = now;
      changed = true;
    }
  }
}

Paths::Step Paths::step(NodeId event) const {
  ++steps_;
  const Hits& find = *question_.find;
  const Hits* until = question_.until;
  const bool same = question_.object == kNoNode || !find.direct(event) ||
                    same_object(receiver(values_.tree(), event), question_.object, values_);
  if (find.direct(event) && same) return Step::kFound;
  if (until != nullptr && until->direct(event)) return Step::kEnded;
  if (!find.at(event) && (until == nullptr || !until->at(event))) return Step::kOn;
  if (find.direct(event)) return Step::kOn;
  // A call of functions of the text that have such events: on into them.
  bool any = false, all = true;
  for (const NodeId function : values_.callees(event)) {
    const Flow& flow = values_.graph().flows()[values_.graph().body_of(function)];
    const bool state = state_[question_.forward ? flow.entry : flow.exit];
    any = any || state;
    all = all && state;
  }
  return (question_.every ? all : any) ? Step::kFound : Step::kEnded;
}

/// What holds in front of the block where `state` holds behind it, in the direction's sense.
bool Paths::through(BlockId block, bool state) const {
  const std::vector<NodeId>& events = values_.graph().blocks()[block].events;
  const std::size_t count = events.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Step found = step(events[question_.forward ? i : count - 1 - i]);
    if (found != Step::kOn) return found == Step::kFound;
  }
  return state;
}

/// At the end of a function (forward), or its beginning: what holds for those who call it.
bool Paths::at_border(const Flow& flow) const {
  if (flow.node == values_.tree().root()) return false;
  const std::vector<NodeId>& callers = values_.callers(flow.node);
  bool any = false, all = !callers.empty();
  std::size_t looked_at = 0;
  for (const NodeId call : callers) {
    if (!values_.graph().place(call).is || ++looked_at > 16) continue;
    const bool state = from(call);
    any = any || state;
    all = all && state;
  }
  return question_.every ? all : any;
}

bool Paths::beyond(BlockId id) const {
  const FlowGraph& graph = values_.graph();
  const Block& block = graph.blocks()[id];
  const Flow& flow = graph.flows()[block.flow];
  if (id == (question_.forward ? flow.exit : flow.entry)) return border_[block.flow];
  const std::vector<BlockId>& next = question_.forward ? block.next : block.previous;
  if (question_.every)
    return std::all_of(next.begin(), next.end(), [&](BlockId one) { return state_[one]; });
  return std::any_of(next.begin(), next.end(), [&](BlockId one) { return state_[one]; });
}

bool Paths::from(NodeId event) const {
  const Place place = values_.graph().place(event);
  if (!place.is || undecided()) return question_.every;
  const std::vector<NodeId>& events = values_.graph().blocks()[place.block].events;
  const std::size_t rest = question_.forward ? events.size() - place.index - 1 : place.index;
  for (std::size_t i = 1; i <= rest; ++i) {
    const Step found = step(events[question_.forward ? place.index + i : place.index - i]);
    if (found != Step::kOn) return found == Step::kFound;
  }
  return beyond(place.block);
}

}  // namespace neutra::source
