#include "graphs/debar.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/words.h"
#include "graphs/danger.h"
#include "graphs/splitting.h"

namespace neutra::graphs {
namespace {

/// Evaluates all nodes in order.
void evaluate(const Graph& graph, const GraphShapes& shapes, const Ranges& ranges, DebarParts parts,
              const std::map<std::uint32_t, Interval>* initial, NumericAnalysis& analysis) {
  Relations relations;
  analysis.values.assign(graph.nodes.size(), {});
  analysis.unknown.clear();
  const auto lookup = [&](Endpoint from) -> const AbstractTensor& {
    static const AbstractTensor anything;
    const auto& outputs = analysis.values[from.node];
    return from.output < outputs.size() ? outputs[from.output] : anything;
  };
  NumericContext context(graph, shapes, ranges, parts, parts.relations ? &relations : nullptr,
                         lookup);
  context.initial_values = initial;
  for (const std::uint32_t number : graph.order) {
    const auto rule = numeric_rules().find(graph.nodes[number].op);
    context.begin(number);
    if (rule == numeric_rules().end()) {
      analysis.unknown.push_back(number);
    } else {
      rule->second(context);
    }
    analysis.values[number] = context.take_outputs();
    const auto given = ranges.nodes.find(graph.nodes[number].name);
    if (given != ranges.nodes.end() && !analysis.values[number].empty())
      confine(analysis.values[number][0], given->second);
  }
}

/// The bounds of what variables are set to at first.
std::map<std::uint32_t, Interval> first_values(const Graph& graph,
                                               const NumericAnalysis& analysis) {
  std::map<std::uint32_t, Interval> values;
  for (const Node& node : graph.nodes) {
    if ((node.op != "Assign" && node.op != "AssignVariableOp") || node.inputs.size() < 2) continue;
    const Endpoint from = node.inputs[1];
    // What a saved model restores is no first value.
    if (graph.nodes[from.node].op == "RestoreV2") continue;
    const auto& outputs = analysis.values[from.node];
    if (from.output >= outputs.size()) continue;
    const Interval bounds = outputs[from.output].whole();
    const auto [place, made] = values.emplace(node.inputs[0].node, bounds);
    if (!made) place->second = hull(place->second, bounds);
  }
  return values;
}

/// Operations without a rule that a node depends on.
std::vector<std::uint32_t> unknown_before(const Graph& graph, std::uint32_t node,
                                          const std::vector<std::uint32_t>& unknown) {
  if (unknown.empty()) return {};
  std::vector<char> seen(graph.nodes.size(), 0);
  std::vector<std::uint32_t> queue = {node}, found;
  seen[node] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (std::find(unknown.begin(), unknown.end(), queue[i]) != unknown.end())
      found.push_back(queue[i]);
    for (const Endpoint& input : graph.nodes[queue[i]].inputs)
      if (!seen[input.node]) {
        seen[input.node] = 1;
        queue.push_back(input.node);
      }
  }
  return found;
}

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

NumericAnalysis find_numeric_bugs(const Graph& graph, const GraphShapes& shapes,
                                  const Ranges& ranges, DebarParts parts) {
  NumericAnalysis analysis;
  evaluate(graph, shapes, ranges, parts, nullptr, analysis);
  if (ranges.variables != Ranges::Default::kUnbounded) {
    const std::map<std::uint32_t, Interval> initial = first_values(graph, analysis);
    evaluate(graph, shapes, ranges, parts, &initial, analysis);
  }
  const auto value = [&](const Node& node, std::size_t place) -> const AbstractTensor& {
    static const AbstractTensor anything;
    if (place >= node.inputs.size()) return anything;
    const auto& outputs = analysis.values[node.inputs[place].node];
    const std::uint32_t output = node.inputs[place].output;
    return output < outputs.size() ? outputs[output] : anything;
  };
  for (std::uint32_t number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    if (!is_unsafe(node.op)) continue;
    if (is_gradient(node)) {
      ++analysis.skipped;
      continue;
    }
    analysis.checked.push_back(number);
    const AbstractTensor &first = value(node, 0), &second = value(node, 1);
    const auto danger = danger_of(node.op, first.type, first.whole(), second.whole());
    if (!danger) continue;
    if (parts.splitting && safe_by_splitting(graph, shapes, ranges, analysis.values, number))
      continue;
    const AbstractTensor& unsafe = danger->input == 0 ? first : second;
    analysis.bugs.push_back({number, danger->kind, danger->input, unsafe.whole(), danger->safe,
                             danger->suggestion, unknown_before(graph, number, analysis.unknown)});
  }
  return analysis;
}

std::vector<GraphFinding> findings_of(const Graph& graph, const NumericAnalysis& analysis) {
  std::vector<GraphFinding> findings;
  for (const NumericBug& bug : analysis.bugs) {
    const Node& node = graph.nodes[bug.node];
    const Endpoint from =
        bug.input < node.inputs.size() ? node.inputs[bug.input] : Endpoint{bug.node, 0};
    std::string message = "found " + graph.name_of(from) + " (" + graph.nodes[from.node].op +
                          ") from " + number_text(bug.found.lo) + " to " +
                          number_text(bug.found.hi) + "; safe: " + bug.safe;
    if (!bug.unknown.empty())
      message +=
          "; depends on operations without a rule: " + join(operations_of(graph, bug.unknown));
    findings.push_back({"debar", bug.kind, node.name, node.op, message, path_to(graph, from.node),
                        bug.suggestion});
    findings.back().path.push_back(node.name + " (" + node.op + ")");
  }
  return findings;
}

}  // namespace neutra::graphs
