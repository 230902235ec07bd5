#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/matcher.h"

namespace neutra::source {

/// Which events of a text a matcher matches, and which functions of the text have one of them, also
/// in what they call.
class Hits {
 public:
  Hits(const Matcher& matcher, const Values& values);
  bool direct(NodeId event) const { return direct_.contains(event); }
  /// Also a call of a function of the text that has one.
  bool at(NodeId event) const { return direct_.contains(event) || calls_.contains(event); }
  const std::vector<NodeId>& list() const { return list_; }
  bool in_function(NodeId function) const { return functions_.contains(function); }

 private:
  std::vector<NodeId> list_;
  std::unordered_set<NodeId> direct_, calls_, functions_;
};

/// A question about paths: from an event, does one find such an event before one of the others?
struct PathQuestion {
  const Hits* find = nullptr;
  const Hits* until = nullptr;  ///< nullptr: none
  bool forward = true;
  bool every = false;       ///< on every path, else on some path
  NodeId object = kNoNode;  ///< `find` only of the same object as this; kNoNode: any
};

/// The answers for all events at once: a data flow problem over the blocks, over the ends of
/// functions to those who call them. Time grows with the graph.
class Paths {
 public:
  Paths(const PathQuestion& question, const Values& values);
  /// The answer for paths that begin behind the event (forward) or in front of it (backward).
  bool from(NodeId event) const;
  /// Did it take too many steps? Then answers may be wrong.
  bool undecided() const { return steps_ > most_steps_; }

 private:
  enum class Step { kFound, kEnded, kOn };
  Step step(NodeId event) const;
  bool at_border(const Flow& flow) const;
  bool beyond(BlockId block) const;
  bool through(BlockId block, bool state) const;

  PathQuestion question_;
  const Values& values_;
  std::vector<bool> state_;   ///< at the beginning of each block, in the direction's sense
  std::vector<bool> border_;  ///< beyond the end (forward) or beginning of each flow
  mutable std::uint64_t steps_ = 0;
  std::uint64_t most_steps_ = 0;
};

/// Are two expressions the same object: the same call made them, or they have the same name?
bool same_object(NodeId one, NodeId other, const Values& values);
/// The object that a method is called of; kNoNode: none.
NodeId receiver(const SyntaxTree& tree, NodeId call);

}  // namespace neutra::source
