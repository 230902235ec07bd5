#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphs/graph.h"
#include "graphs/shape.h"

namespace neutra::graphs {

/// What is known of an output before any run.
struct TensorShape {
  Shape shape;
  /// Elements of a whole-number tensor of rank 0 or 1: sizes that a Reshape takes, for example.
  std::optional<std::vector<Dim>> value = {};
};

/// One of the two ends that do not fit.
struct ShapeEnd {
  Endpoint from;  ///< the output that the failing operation takes
  std::string shape;
  std::string size;  ///< of the dimension that does not fit: "784 in dimension 1"
};

/// Another size of a placeholder, a variable or a constant.
struct SizeChange {
  std::uint32_t node = 0;
  std::size_t place = 0;  ///< the dimension, or the element of a constant
  std::int64_t from = 0, to = 0;
  /// Mismatches of the whole graph that are left with it.
  std::size_t left = 0;
};

/// An operation whose inputs do not fit.
struct ShapeMismatch {
  std::uint32_t node = 0;
  std::string expected;
  std::vector<ShapeEnd> ends;
  /// The smallest change with which the operation fits, where one was found.
  std::optional<SizeChange> change;
  /// The two sizes, where both are known: what a change is looked for by.
  std::vector<std::int64_t> sizes;
};

using ShapeState = std::vector<std::vector<TensorShape>>;

/// What the rule of an operation sees and says.
class ShapeContext {
 public:
  ShapeContext(const Graph& graph, ShapeState& state, Symbols& symbols,
               std::vector<ShapeMismatch>& mismatches)
      : graph_(graph), state_(state), symbols_(symbols), mismatches_(mismatches) {}

  void begin(std::uint32_t number) { number_ = number; }

  const Node& node() const { return graph_.nodes[number_]; }
  const Graph& graph() const { return graph_; }
  std::size_t inputs() const { return node().inputs.size(); }
  const TensorShape& input(std::size_t place) const;
  const Shape& in(std::size_t place) const { return input(place).shape; }
  /// The elements of an input, where they are known.
  const std::optional<std::vector<Dim>>& value(std::size_t place) const;
  /// The only element of an input as a plain number.
  std::optional<std::int64_t> whole(std::size_t place) const;
  /// All elements of an input as plain numbers.
  std::optional<std::vector<std::int64_t>> wholes(std::size_t place) const;

  void out(Shape shape, std::optional<std::vector<Dim>> value = {});

  /// One size for two that must be equal: dimension `axis` of input `place`, and the same of
  /// another. Where both are known and differ, the operation is a mismatch and the result unknown.
  Dim same(std::size_t place, std::size_t axis, std::size_t other, std::size_t other_axis,
           const std::string& expected);
  /// The same of whole shapes.
  Shape same_shape(std::size_t place, std::size_t other, const std::string& expected);
  /// NumPy's rule: from the last dimension on, sizes are equal or one of them is 1.
  Shape broadcast(const Shape& a, std::size_t place, const Shape& b, std::size_t other);
  /// Does the input have so many dimensions? Unknown ranks pass; others are a mismatch.
  bool has_rank(std::size_t place, std::size_t rank);
  /// An index of a dimension, counted from behind where it is negative; nullopt: out of range,
  /// which is a mismatch.
  std::optional<std::size_t> axis(std::int64_t axis, std::size_t rank, std::size_t place);

  /// Records that the operation's inputs do not fit.
  void fail(const std::string& expected, std::vector<ShapeEnd> ends,
            std::vector<std::int64_t> sizes = {});
  ShapeEnd end(std::size_t place, const std::string& size = "") const;
  ShapeEnd end(std::size_t place, std::size_t axis) const;

  Symbols& symbols() { return symbols_; }

 private:
  const Graph& graph_;
  ShapeState& state_;
  Symbols& symbols_;
  std::vector<ShapeMismatch>& mismatches_;
  std::uint32_t number_ = 0;
};

using ShapeRule = std::function<void(ShapeContext&)>;
using ShapeRules = std::map<std::string, ShapeRule, std::less<>>;

// The rules of operations, by what they do. Each is the shape function that TensorFlow 2.15
// registers for the operation, as far as it is about sizes.

void add_source_rules(ShapeRules& rules);
void add_elementwise_rules(ShapeRules& rules);
void add_structure_rules(ShapeRules& rules);
void add_slice_rules(ShapeRules& rules);
void add_layer_rules(ShapeRules& rules);

}  // namespace neutra::graphs
