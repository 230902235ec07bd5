#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "fl_adapters/task_rules.h"

namespace neutra::fl_adapters::neuralint {

/// A layer of the tool's graph.
struct Node {
  int layer = 0;           ///< over config.layers
  std::string type;        ///< the tool's: "dense", "conv2d", "activator", ...
  std::string activation;  ///< of an activator
  bool linear = false;     ///< an activator that the rules take for none
  Json config;             ///< normal form, every field present
  std::optional<program::Shape> in, out;

  /// Is it of this type of the tool?
  bool is(std::string_view wanted) const { return type == wanted; }
  /// Has it weights that the rules look at?
  bool learns() const { return is("dense") || is("conv2d"); }
  /// An activation that counts as one.
  bool nonlinear() const { return is("activator") && !linear; }
  /// Layers that make maps smaller, and those that make rows of them.
  bool max_pools() const { return is("maxpooling2d"); }
  bool pools() const { return max_pools() || is("averagepooling2d") || is("globalpooling2d"); }
  bool flattens() const { return is("flatten") || is("reshape") || is("globalpooling2d"); }
};

/// The program as the tool reads it. Looks at the document alone, which need not be a program that
/// Keras accepts.
class Graph {
 public:
  /// `data`: of the program's rows, where they are known.
  Graph(const program::Program& program, ToolVariant variant,
        std::optional<program::DataInfo> data = std::nullopt);

  /// Why the tool can't read the program; "": it can.
  const std::string& reason() const { return reason_; }
  /// ToolVariant::kRepaired?
  bool repaired() const { return repaired_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& at(std::size_t i) const { return nodes_[i]; }
  const Node& last() const { return nodes_.back(); }

  /// Is the loss the one that the tool calls `name`?
  bool loss_is(std::string_view name) const { return loss_ == name; }
  /// Does the loss expect outputs without an activation, as those for regressions do?
  bool loss_wants_logits() const { return regression_; }
  /// What the task allows, which the repaired tool asks.
  const TaskRules& rules() const { return rules_; }
  /// Size of a label, which the tool is told: that of a row's target, so that class numbers have 1.
  /// To the repaired tool they are as many labels as there are classes. 0: unknown.
  std::int64_t labels() const { return repaired_ ? rules_.classes() : rules_.label_width(); }

  /// Does `wanted` hold for a layer behind `from`, at most `hops` behind it?
  template <typename Wanted>
  bool within(std::size_t from, double hops, Wanted wanted) const {
    for (std::size_t i = from + 1; i < size() && static_cast<double>(i - from) <= hops; ++i) {
      if (wanted(nodes_[i])) return true;
    }
    return false;
  }
  /// Does it hold for any layer behind `from`?
  template <typename Wanted>
  bool after(std::size_t from, Wanted wanted) const {
    return within(from, static_cast<double>(size()), wanted);
  }
  /// Does it hold for a layer between two others?
  template <typename Wanted>
  bool between(std::size_t from, std::size_t to, Wanted wanted) const {
    return to > from && within(from, static_cast<double>(to - from) - 1, wanted);
  }

 private:
  void read_loss(const Json& document, const Json& normal);
  void read_layers(const Json& written, const Json& layers);
  void add_activator(int layer, std::string activation);
  /// Shapes as the tool infers them; unknown from a layer on that doesn't fit.
  void find_shapes(const Json& written);
  std::optional<program::Shape> output_of(const Node& node,
                                          const std::optional<program::Shape>& in) const;

  bool repaired_;
  TaskRules rules_;
  bool regression_ = false;
  int known_layers_ = 0;
  std::string reason_;
  std::string loss_;
  std::vector<Node> nodes_;
};

/// The number of values of an array of this shape, as far as its sign and its equality with another
/// tell: shapes too large for a program all give program::kMaxElements.
std::int64_t product(const program::Shape& shape);

}  // namespace neutra::fl_adapters::neuralint
