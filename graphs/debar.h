#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graphs/graph_finding.h"
#include "graphs/numeric_context.h"

namespace neutra::graphs {

/// An operation whose input may lie where it makes NaN or infinity.
struct NumericBug {
  std::uint32_t node = 0;
  std::string kind;       ///< "log", "exp", "sqrt", "division", "power"
  std::size_t input = 0;  ///< the place of the input that is unsafe
  Interval found;         ///< where it may lie
  std::string safe;       ///< "1.2e-38 and more"
  std::string suggestion;
  std::vector<std::uint32_t> unknown;  ///< operations without a rule that it depends on
};

struct NumericAnalysis {
  std::vector<NumericBug> bugs;
  std::vector<std::uint32_t> checked;  ///< all unsafe operations that were looked at
  std::size_t skipped = 0;             ///< those of gradients, which are not
  std::vector<std::uint32_t> unknown;  ///< nodes whose operation has no rule
  NumericValues values;
};

/// Finds operations that may make NaN or infinity, for all inputs and weights within their ranges,
/// without running the graph: docs/methods/debar.md.
NumericAnalysis find_numeric_bugs(const Graph& graph, const GraphShapes& shapes,
                                  const Ranges& ranges, DebarParts parts = {});

std::vector<GraphFinding> findings_of(const Graph& graph, const NumericAnalysis& analysis);

}  // namespace neutra::graphs
