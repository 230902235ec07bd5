#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graphs/abstract_tensor.h"
#include "graphs/ranges.h"
#include "graphs/shapeflow.h"

namespace neutra::graphs {

/// What debar may use; all is on but for tests that show what each is good for.
struct DebarParts {
  bool partitions = true;
  bool relations = true;
  bool splitting = true;
};

/// What the abstract version of an operation sees and says.
class NumericContext {
 public:
  using Lookup = std::function<const AbstractTensor&(Endpoint)>;

  /// `relations` nullptr: intervals alone.
  NumericContext(const Graph& graph, const GraphShapes& shapes, const Ranges& ranges,
                 DebarParts parts, Relations* relations, Lookup lookup)
      : graph_(graph),
        shapes_(shapes),
        ranges_(ranges),
        parts_(parts),
        relations_(relations),
        lookup_(std::move(lookup)) {}

  void begin(std::uint32_t number) {
    number_ = number;
    outputs_.clear();
  }
  const Node& node() const { return graph_.nodes[number_]; }
  const Graph& graph() const { return graph_; }
  const Ranges& ranges() const { return ranges_; }
  std::size_t inputs() const { return node().inputs.size(); }
  const AbstractTensor& in(std::size_t place) const;
  const Shape& shape(std::size_t place) const;
  const Shape& out_shape(std::uint32_t output = 0) const {
    return shapes_.of({number_, output}).shape;
  }
  /// All elements of an input as plain numbers.
  std::optional<std::vector<std::int64_t>> wholes(std::size_t place) const;
  /// The dimensions that a reduction's second input names, counted from the first.
  std::optional<std::set<std::size_t>> axes(std::size_t place, std::size_t rank) const;

  void out(AbstractTensor tensor);
  std::vector<AbstractTensor> take_outputs() { return std::move(outputs_); }

  Relations* relations() const { return relations_; }
  bool partitions() const { return parts_.partitions; }
  /// The first values of a variable; nullopt where they are unknown.
  std::optional<Interval> initial(std::uint32_t variable) const;
  std::uint32_t number() const { return number_; }
  const std::map<std::uint32_t, Interval>* initial_values = nullptr;

 private:
  const Graph& graph_;
  const GraphShapes& shapes_;
  const Ranges& ranges_;
  DebarParts parts_;
  Relations* relations_;
  Lookup lookup_;
  std::uint32_t number_ = 0;
  std::vector<AbstractTensor> outputs_;
};

using NumericRule = std::function<void(NumericContext&)>;
using NumericRules = std::map<std::string, NumericRule, std::less<>>;

/// What is known of the outputs of each node.
using NumericValues = std::vector<std::vector<AbstractTensor>>;

/// The abstract versions of all operations that have one.
const NumericRules& numeric_rules();

// Abstract versions of operations, by what they do: docs/methods/debar.md.

void add_numeric_sources(NumericRules& rules);
void add_numeric_elementwise(NumericRules& rules);
void add_numeric_structure(NumericRules& rules);
void add_numeric_reductions(NumericRules& rules);

}  // namespace neutra::graphs
