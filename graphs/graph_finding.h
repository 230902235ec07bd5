#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "graphs/graph.h"
#include "graphs/shapeflow.h"

namespace neutra::graphs {

/// What a tool says of a node.
struct GraphFinding {
  std::string tool;  ///< "shapeflow", "debar"
  std::string kind;  ///< "shape_mismatch", or the unsafe operation's kind, such as "log"
  std::string node, op;
  std::string message;
  std::vector<std::string> path;  ///< from a source to the node: "w (VariableV2)"
  std::string suggestion;         ///< "": none
};

/// Findings of a file, with what the tools could not look at.
struct GraphFindings {
  std::string file;
  std::size_t nodes = 0;
  std::vector<GraphFinding> findings;
  std::vector<std::string> unknown;  ///< operations without a rule, each once
  std::size_t skipped = 0;           ///< unsafe operations of gradients, which debar leaves out
};

/// `file: node (op): message [tool]` for each, its path and its suggestion below.
std::string text_of(const GraphFindings& findings);
/// docs/formats/check_graph.md
Json json_of(const GraphFindings& findings);

/// What shapeflow found.
std::vector<GraphFinding> findings_of(const Graph& graph, const GraphShapes& shapes);

/// A shortest path from a placeholder, variable or constant to a node through its inputs; sources
/// that are fed or trained before constants.
std::vector<std::string> path_to(const Graph& graph, std::uint32_t node);

/// The operations of nodes, each once, sorted.
std::vector<std::string> operations_of(const Graph& graph, const std::vector<std::uint32_t>& nodes);

}  // namespace neutra::graphs
