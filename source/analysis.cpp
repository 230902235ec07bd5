#include "source/analysis.h"

#include <algorithm>
#include <unordered_set>

#include "source/shape_flow.h"

namespace neutra::source {
namespace {

constexpr std::size_t kMostObjects = 32;  ///< of one question that are told apart

}  // namespace

Analysis::Analysis(const SourceText& source, const Vocabulary& vocabulary)
    : source_(source),
      tree_(parse(source.text())),
      graph_(tree_),
      values_(graph_, vocabulary),
      tracer_(values_) {}

const Hits& Analysis::hits(const Matcher& matcher) const {
  std::unique_ptr<Hits>& known = hits_[&matcher];
  if (!known) known = std::make_unique<Hits>(matcher, values_);
  return *known;
}

/// One expression for all that are the same object.
NodeId Analysis::object_key(const Matcher& find, NodeId object) const {
  std::vector<NodeId>& known = objects_[&find];
  for (const NodeId one : known)
    if (same_object(one, object, values_)) return one;
  if (known.size() >= kMostObjects) return kNoNode;
  known.push_back(object);
  return object;
}

std::optional<bool> Analysis::path(const Matcher& find, const Matcher* until, bool forward,
                                   bool every, NodeId object, NodeId event) const {
  if (object != kNoNode) object = object_key(find, object);
  std::unique_ptr<Paths>& known = paths_[{&find, until, forward, every, object}];
  if (!known) {
    const PathQuestion question{&hits(find), until == nullptr ? nullptr : &hits(*until), forward,
                                every, object};
    known = std::make_unique<Paths>(question, values_);
  }
  const bool answer = known->from(event);
  if (known->undecided()) return std::nullopt;
  return answer;
}

bool Analysis::is_near(const Matcher& matcher, NodeId event) const {
  const Hits& found = hits(matcher);
  const bool function = tree_.kind(event) == NodeKind::kFunction;
  std::vector<FlowId> open{function ? graph_.body_of(event) : graph_.flow_of(event)};
  std::unordered_set<FlowId> seen{open.front()};
  for (std::size_t i = 0; i < open.size() && i < 64; ++i) {
    const NodeId node = graph_.flows()[open[i]].node;
    if (found.in_function(node)) return true;
    for (const NodeId call : values_.callers(node)) {
      const FlowId caller = graph_.flow_of(call);
      if (seen.insert(caller).second) open.push_back(caller);
    }
  }
  return false;
}

const std::vector<ShapeConflict>& Analysis::shape_conflicts() const {
  if (!shape_conflicts_) {
    shape_conflicts_ = std::move(ShapeFlow(source_, values_).conflicts());
    std::stable_sort(shape_conflicts_->begin(), shape_conflicts_->end(),
                     [&](const ShapeConflict& one, const ShapeConflict& other) {
                       return tree_[one.node].begin < tree_[other.node].begin;
                     });
  }
  return *shape_conflicts_;
}

std::optional<std::string> Analysis::literal(NodeId node) const {
  for (int round = 0; round < 16 && node != kNoNode; ++round) {
    switch (tree_.kind(node)) {
      case NodeKind::kNumber:
      case NodeKind::kConstant:
        return std::string(tree_.text(node));
      case NodeKind::kString:
        if (tree_[node].first != kNoNode) return std::nullopt;
        return std::string(string_content(tree_.text(node)));
      case NodeKind::kUnary:
        if (tree_.kind(tree_[node].first) == NodeKind::kNumber)
          return std::string(tree_.text(node));
        return std::nullopt;
      case NodeKind::kName: {
        const DefId definition = graph_.definition(node);
        if (definition == kNoDef) return std::nullopt;
        const std::vector<DefId> all = graph_.reaching(definition);
        if (all.size() != 1) return std::nullopt;
        const Def& def = graph_.def(all.front());
        if (def.kind == DefKind::kValue) {
          node = part_of(tree_, def.value, def.path);
        } else {
          return std::nullopt;
        }
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace neutra::source
