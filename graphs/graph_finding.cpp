#include "graphs/graph_finding.h"

#include <algorithm>
#include <set>

#include "base/words.h"

namespace neutra::graphs {
namespace {

bool is_source(const std::string& op) {
  return op.starts_with("Placeholder") || op.starts_with("Variable") || op == "VarHandleOp";
}

std::string change_text(const Graph& graph, const ShapeMismatch& mismatch) {
  if (!mismatch.change) return "";
  const SizeChange& change = *mismatch.change;
  const Node& node = graph.nodes[change.node];
  const bool constant = node.op == "Const";
  std::string text = node.name + " (" + node.op + "): " + (constant ? "element " : "dimension ") +
                     std::to_string(change.place) + ": " + std::to_string(change.from) + " -> " +
                     std::to_string(change.to);
  if (change.left > 0)
    text += " (then " + std::to_string(change.left) + " other mismatches are left)";
  return text;
}

}  // namespace

std::string text_of(const GraphFindings& findings) {
  std::string text;
  for (const GraphFinding& finding : findings.findings) {
    text += findings.file + ": " + finding.node + " (" + finding.op + "): " + finding.message +
            " [" + finding.tool + "/" + finding.kind + "]\n";
    if (!finding.path.empty()) text += "  path: " + join(finding.path, " -> ") + "\n";
    if (!finding.suggestion.empty()) text += "  fix: " + finding.suggestion + "\n";
  }
  text += findings.file + ": " + std::to_string(findings.nodes) + " nodes, " +
          std::to_string(findings.findings.size()) +
          (findings.findings.size() == 1 ? " finding" : " findings");
  if (findings.skipped > 0)
    text += "; " + std::to_string(findings.skipped) + " unsafe operations of gradients left out";
  if (!findings.unknown.empty()) text += "; operations without a rule: " + join(findings.unknown);
  return text + "\n";
}

Json json_of(const GraphFindings& findings) {
  Json list = Json::array();
  for (const GraphFinding& finding : findings.findings) {
    list.push_back({{"tool", finding.tool},
                    {"kind", finding.kind},
                    {"node", finding.node},
                    {"op", finding.op},
                    {"message", finding.message},
                    {"path", finding.path},
                    {"suggestion", finding.suggestion}});
  }
  return {{"format", "neutra-check-graph"},
          {"version", 1},
          {"file", findings.file},
          {"nodes", findings.nodes},
          {"findings", list},
          {"unknown_operations", findings.unknown},
          {"gradients_left_out", findings.skipped}};
}

std::vector<GraphFinding> findings_of(const Graph& graph, const GraphShapes& shapes) {
  std::vector<GraphFinding> findings;
  for (const ShapeMismatch& mismatch : shapes.mismatches) {
    const Node& node = graph.nodes[mismatch.node];
    std::vector<std::string> ends;
    for (const ShapeEnd& end : mismatch.ends)
      ends.push_back(graph.name_of(end.from) + " " + end.shape +
                     (end.size.empty() ? "" : " (" + end.size + ")"));
    findings.push_back({"shapeflow", "shape_mismatch", node.name, node.op,
                        "found " + join(ends, " and ") + "; expected: " + mismatch.expected,
                        path_to(graph, mismatch.node), change_text(graph, mismatch)});
  }
  return findings;
}

std::vector<std::string> path_to(const Graph& graph, std::uint32_t node) {
  // Backwards, breadth first: the first source that is met ends a shortest path.
  std::vector<std::int64_t> next(graph.nodes.size(), -1);
  std::vector<std::uint32_t> queue = {node};
  next[node] = node;
  std::optional<std::uint32_t> start;
  for (std::size_t i = 0; i < queue.size() && !start; ++i) {
    if (is_source(graph.nodes[queue[i]].op)) {
      start = queue[i];
      break;
    }
    for (const Endpoint& input : graph.nodes[queue[i]].inputs)
      if (next[input.node] < 0) {
        next[input.node] = queue[i];
        queue.push_back(input.node);
      }
  }
  std::vector<std::string> path;
  for (std::uint32_t at = start ? *start : queue.back();;
       at = static_cast<std::uint32_t>(next[at])) {
    path.push_back(graph.nodes[at].name + " (" + graph.nodes[at].op + ")");
    if (at == node) return path;
  }
}

std::vector<std::string> operations_of(const Graph& graph,
                                       const std::vector<std::uint32_t>& nodes) {
  std::set<std::string> operations;
  for (const std::uint32_t node : nodes) operations.insert(graph.nodes[node].op);
  return {operations.begin(), operations.end()};
}

}  // namespace neutra::graphs
