#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "cli/outputs.h"
#include "cli/verbs.h"
#include "graphs/debar.h"
#include "graphs/graph_finding.h"
#include "graphs/shapeflow.h"
#include "graphs/tensorflow_graph.h"

namespace neutra::cli {
namespace {

/// Refuses ranges of nodes that the graph does not have.
void require_nodes(const graphs::Ranges& ranges, const graphs::Graph& graph,
                   const std::string& file) {
  std::vector<std::string> names;
  for (const graphs::Node& node : graph.nodes) names.push_back(node.name);
  for (const auto& [name, range] : ranges.nodes)
    if (!graph.find(name))
      throw input_error(describe(file, "/nodes", "'" + name + "'",
                                 "nodes of " + graph.file + ": " + allowed_words(name, names)));
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  const std::vector<std::string> chosen = arguments.list("tool");
  const auto has_tool = [&](const char* name) {
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
  };
  const graphs::Graph graph = graphs::read_tensorflow_graph(arguments.positional.front());
  graphs::Ranges ranges;
  if (arguments.has("ranges")) {
    ranges = graphs::read_ranges(arguments.text("ranges"));
    require_nodes(ranges, graph, arguments.text("ranges"));
  }
  graphs::GraphFindings result;
  result.file = graph.file;
  result.nodes = graph.nodes.size();
  const graphs::GraphShapes shapes =
      has_tool("shapeflow") ? graphs::check_shapes(graph) : graphs::infer_shapes(graph);
  std::vector<std::string> unknown;
  if (has_tool("shapeflow")) {
    result.findings = graphs::findings_of(graph, shapes);
    unknown = graphs::operations_of(graph, shapes.unknown);
  }
  if (has_tool("debar")) {
    const graphs::NumericAnalysis analysis = graphs::find_numeric_bugs(graph, shapes, ranges);
    for (graphs::GraphFinding& finding : graphs::findings_of(graph, analysis))
      result.findings.push_back(std::move(finding));
    result.skipped = analysis.skipped;
    // Of operations without numbers, such as those that save, nothing is to be known.
    for (const std::uint32_t node : analysis.unknown)
      if (!shapes.outputs[node].empty() ||
          std::find(shapes.unknown.begin(), shapes.unknown.end(), node) != shapes.unknown.end())
        unknown.push_back(graph.nodes[node].op);
  }
  const std::set<std::string> once(unknown.begin(), unknown.end());
  result.unknown.assign(once.begin(), once.end());
  const Exit exit = result.findings.empty() ? Exit::kDone : Exit::kFailed;
  return output_of(std::move(result), arguments, exit);
}

}  // namespace

Verb check_graph_verb() {
  return {
      .name = "check-graph",
      .summary = "find numerical bugs and shapes that do not fit in a computation graph",
      .synopsis =
          "check-graph GRAPH [--tool shapeflow|debar]... [--ranges FILE] "
          "[--format text|json] [-o FILE]",
      .options = {.names = {"output"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "GRAPH",
                  .formats = {"text", "json"},
                  .own = {{.name = "ranges",
                           .type = OptionType::kText,
                           .argument = "FILE",
                           .help = "ranges of placeholders and variables as JSON "
                                   "(docs/formats/graph_ranges.md); default: they may be anything"},
                          {.name = "tool",
                           .type = OptionType::kList,
                           .argument = "NAME",
                           .choices = {"shapeflow", "debar"},
                           .help = "what looks at the graph: shapeflow, debar (may be given "
                                   "several times); default: both"}}},
      .description =
          "Reads a GraphDef of TensorFlow, binary (.pb) or as text (.pbtxt). shapeflow follows "
          "sizes through it with the\n"
          "batch as a symbol, and names both ends of what does not fit with the smallest change "
          "of a size that makes it fit\n"
          "(docs/methods/shapeflow.md). debar finds operations that may make NaN or infinity for "
          "some input or weight: a\n"
          "logarithm of 0, a division by 0, an overflow of exp (docs/methods/debar.md). Nothing "
          "is executed.\n"
          "Exit 1 where there are findings, 3 where the file can't be read.",
      .example =
          "  neutra check-graph model.pb\n"
          "  neutra check-graph model.pbtxt --tool debar --ranges ranges.json --format json",
      .run = run};
}

}  // namespace neutra::cli
