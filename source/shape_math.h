#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/shape_table.h"
#include "source/source_text.h"
#include "source/syntax_tree.h"

namespace neutra::source {

/// Two places of a text that can't agree about a shape.
struct ShapeConflict {
  std::string_view kind;  ///< "input-size", ...: docs/methods/source.md
  NodeId node = kNoNode;  ///< where it is reported
  std::string text;       ///< both places and what they say
  std::vector<std::pair<NodeId, std::string>> places;  ///< and what each says
};

/// The kinds of conflicts.
const std::vector<std::string>& shape_conflict_kinds();

/// What a layer, function or method does, once: its settings, and where it stands.
struct ShapeCall {
  const ShapeEntry* entry = nullptr;
  const std::unordered_map<std::string_view, Thing>* settings = nullptr;
  bool settings_known = true;  ///< false: there may be others (`**options`)
  NodeId maker = kNoNode;      ///< the call that has the settings
  NodeId call = kNoNode;       ///< the call that it is applied by
};

/// The arithmetic of shapes. What is not known stays unknown.
class ShapeMath {
 public:
  ShapeMath(const SourceText& source, const SyntaxTree& tree) : source_(source), tree_(tree) {}

  /// What comes out; unknown where it can't be told.
  Thing apply(const ShapeCall& call, const std::vector<Thing>& inputs);
  Thing broadcast(const Thing& one, const Thing& other, NodeId node);
  Thing matmul(const Thing& one, const Thing& other, NodeId node);
  /// A tensor of these sizes; -1 and what is unknown are unknown.
  Thing of_sizes(const std::vector<Thing>& sizes, NodeId from);
  Dim fresh() { return {Dim::kUnknown, kNoNode, ++symbols_}; }

  /// Of a Keras model: what its output, its loss and its labels say about the units.
  void compare_units(NodeId call, const Dim& output, const Dim& labels);

  std::vector<ShapeConflict>& conflicts() { return conflicts_; }
  /// Nothing is reported while it is above 0.
  int silent = 0;

 private:
  using Dims = std::vector<Dim>;
  Thing setting(const ShapeCall& call, std::string_view name) const;
  Dim size(const ShapeCall& call, std::string_view name) const;
  std::optional<bool> flag(const ShapeCall& call, std::string_view name) const;
  /// One for each of `count` axes.
  Dims sizes(const ShapeCall& call, std::string_view name, int count) const;

  void report(std::string_view kind, NodeId node, std::string text,
              std::vector<std::pair<NodeId, std::string>> places);
  std::string name_of(NodeId maker) const;
  void expect(const ShapeCall& call, const Dim& wanted, const Dim* found, const char* what);
  bool has_rank(const ShapeCall& call, const Shape& shape, std::size_t least, std::size_t most);

  Thing apply_layer(const ShapeCall& call, const Shape& input);
  Thing apply_view(const ShapeCall& call, const Shape& input, const std::vector<Thing>& inputs);
  Thing apply_keras(const ShapeCall& call, const Shape& input);
  Thing linear(const ShapeCall& call, Shape shape);
  Thing window(const ShapeCall& call, Shape shape);
  Dim window_size(const ShapeCall& call, const Dim& input, std::size_t axis);
  Thing adaptive_pool(const ShapeCall& call, Shape shape);
  Thing norm(const ShapeCall& call, Shape shape);
  Thing layer_norm(const ShapeCall& call, const Shape& shape);
  Thing recurrent(const ShapeCall& call, Shape shape);
  Thing embedding(const ShapeCall& call, Shape shape);
  Thing flatten(const ShapeCall& call, const Shape& shape);
  Thing upsample(const ShapeCall& call, Shape shape);
  Thing pad(const ShapeCall& call, Shape shape);
  Thing reshape(const ShapeCall& call, const Shape& shape, const std::vector<Thing>& sizes);
  void check_reshape(const ShapeCall& call, const Shape& shape, const Dims& wanted);
  Thing permute(const Shape& shape, const std::vector<Thing>& axes);
  Thing transpose(const ShapeCall& call, const Shape& shape);
  Thing squeeze(const ShapeCall& call, const Shape& shape);
  Thing reduce(const ShapeCall& call, const Shape& shape);
  Thing concatenate(const ShapeCall& call, const std::vector<Thing>& parts, bool keras);
  Thing stack(const ShapeCall& call, const std::vector<Thing>& parts);
  Thing keras_merge(const ShapeCall& call, const std::vector<Thing>& parts);
  Thing keras_reshape(const ShapeCall& call, const Shape& shape);
  Thing keras_recurrent(const ShapeCall& call, const Shape& shape);
  Thing list(const std::vector<Thing>& items);

  const SourceText& source_;
  const SyntaxTree& tree_;
  std::vector<ShapeConflict> conflicts_;
  std::vector<std::unique_ptr<ShapeObject>> lists_;
  std::uint32_t symbols_ = 0;
};

}  // namespace neutra::source
