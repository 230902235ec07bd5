#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "source/paths.h"
#include "source/shape_math.h"
#include "source/source_text.h"
#include "source/trace.h"

namespace neutra::source {

/// All that is known of one text, made once for all rules; answers are kept.
class Analysis {
 public:
  /// `source` must outlive it.
  explicit Analysis(const SourceText& source,
                    const Vocabulary& vocabulary = Vocabulary::standard());

  const SourceText& source() const { return source_; }
  const SyntaxTree& tree() const { return tree_; }
  const FlowGraph& graph() const { return graph_; }
  const Values& values() const { return values_; }
  const Tracer& tracer() const { return tracer_; }

  const Hits& hits(const Matcher& matcher) const;
  /// nullopt: it takes too many steps to tell.
  std::optional<bool> path(const Matcher& find, const Matcher* until, bool forward, bool every,
                           NodeId object, NodeId event) const;
  /// The flow's function and those that call it, or are called by it, also at several removes.
  bool is_near(const Matcher& matcher, NodeId event) const;
  /// A number, text or constant that an expression is, by way of names, too; nullopt: another.
  std::optional<std::string> literal(NodeId expression) const;
  /// Places whose shapes can't agree, in the order of the text.
  const std::vector<ShapeConflict>& shape_conflicts() const;

 private:
  struct Question {
    const Matcher* find;
    const Matcher* until;
    bool forward, every;
    NodeId object;
    auto operator<=>(const Question&) const = default;
  };
  NodeId object_key(const Matcher& find, NodeId object) const;

  const SourceText& source_;
  SyntaxTree tree_;
  FlowGraph graph_;
  Values values_;
  Tracer tracer_;
  mutable std::map<const Matcher*, std::unique_ptr<Hits>> hits_;
  mutable std::map<Question, std::unique_ptr<Paths>> paths_;
  mutable std::map<const Matcher*, std::vector<NodeId>> objects_;
  mutable std::optional<std::vector<ShapeConflict>> shape_conflicts_;
};

}  // namespace neutra::source
