#pragma once

#include <string>
#include <vector>

#include "graphs/graph.h"
#include "graphs/shape_context.h"

namespace neutra::graphs {

/// The shapes of a whole graph, found without running it: docs/methods/shapeflow.md.
struct GraphShapes {
  ShapeState outputs;  ///< of each node
  Symbols symbols;
  std::vector<ShapeMismatch> mismatches;
  std::vector<std::uint32_t> unknown;  ///< nodes whose operation has no rule

  const TensorShape& of(Endpoint endpoint) const;
};

/// Sizes for all outputs, and the operations whose inputs do not fit. Their outputs are taken as of
/// unknown size, so that one mistake is told once.
GraphShapes infer_shapes(const Graph& graph);

/// infer_shapes(), and for each mismatch the smallest change of a size that makes it fit.
GraphShapes check_shapes(const Graph& graph);

}  // namespace neutra::graphs
