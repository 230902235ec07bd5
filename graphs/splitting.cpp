#include "graphs/splitting.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "graphs/danger.h"

namespace neutra::graphs {
namespace {

/// Nodes of a cone that are evaluated for each part, at most.
constexpr std::size_t kMostNodes = 40;
/// Nodes whose values are split, and numbers at which, at most.
constexpr std::size_t kMostSplit = 6, kMostNumbers = 6;

/// Does an element of the result depend on the same element of each input alone? Broadcasting keeps
/// that: which element of a tensor goes in depends on its shape only.
bool is_elementwise(const std::string& op) {
  static const std::set<std::string> others = {"Identity", "StopGradient", "Cast",     "Select",
                                               "SelectV2", "ClipByValue",  "LeakyRelu"};
  return unary_function(op) || binary_function(op) || others.contains(op);
}

/// The unsafe operation and what its inputs are computed from by elementwise operations.
struct Cone {
  std::vector<std::uint32_t> inside;  ///< each behind its inputs, the unsafe one last
  std::vector<std::uint32_t> edge;    ///< what goes in
};

Cone cone_of(const Graph& graph, std::uint32_t node) {
  std::set<std::uint32_t> inside = {node}, edge;
  std::vector<std::uint32_t> queue = {node};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Endpoint& input : graph.nodes[queue[i]].inputs) {
      const bool goes_on = is_elementwise(graph.nodes[input.node].op) && input.output == 0 &&
                           inside.size() < kMostNodes;
      if (inside.contains(input.node)) continue;
      if (goes_on) {
        inside.insert(input.node);
        queue.push_back(input.node);
      } else {
        edge.insert(input.node);
      }
    }
  Cone cone;
  // Depth first, so that inputs come before what uses them.
  std::set<std::uint32_t> done;
  const std::function<void(std::uint32_t)> visit = [&](std::uint32_t at) {
    if (!inside.contains(at) || !done.insert(at).second) return;
    for (const Endpoint& input : graph.nodes[at].inputs) visit(input.node);
    cone.inside.push_back(at);
  };
  visit(node);
  for (const std::uint32_t each : edge)
    if (!inside.contains(each)) cone.edge.push_back(each);
  return cone;
}

/// Evaluates a cone with other values for some of its nodes.
class ConeRun {
 public:
  ConeRun(const Graph& graph, const GraphShapes& shapes, const Ranges& ranges,
          const NumericValues& values, const Cone& cone)
      : graph_(graph),
        values_(values),
        cone_(cone),
        context_(graph, shapes, ranges, {}, nullptr,
                 [this](Endpoint from) -> const AbstractTensor& { return value(from); }) {}

  /// Is the last node of the cone safe where `split` lies within `part`?
  bool is_safe(std::uint32_t split, const Interval& part) {
    changed_.clear();
    const AbstractTensor& whole = value({split, 0});
    changed_[split] = tensor_within(part, whole.type);
    const std::uint32_t last = cone_.inside.back();
    for (const std::uint32_t number : cone_.inside) {
      if (number == last) break;
      if (number == split) continue;
      context_.begin(number);
      numeric_rules().find(graph_.nodes[number].op)->second(context_);
      std::vector<AbstractTensor> outputs = context_.take_outputs();
      AbstractTensor result = joined(outputs.front());
      confine(result, value({number, 0}).whole());
      changed_[number] = result;
    }
    const Node& node = graph_.nodes[last];
    const AbstractTensor& first = value(node.inputs[0]);
    const Interval second = node.inputs.size() > 1 ? value(node.inputs[1]).whole() : Interval{};
    return !danger_of(node.op, first.type, first.whole(), second);
  }

  const AbstractTensor& value(Endpoint from) const {
    static const AbstractTensor anything;
    const auto found = changed_.find(from.node);
    if (found != changed_.end() && from.output == 0) return found->second;
    const auto& outputs = values_[from.node];
    return from.output < outputs.size() ? outputs[from.output] : anything;
  }

 private:
  const Graph& graph_;
  const NumericValues& values_;
  const Cone& cone_;
  NumericContext context_;
  std::map<std::uint32_t, AbstractTensor> changed_;
};

double next_above(double value, ElementType type) {
  if (!is_floating(type)) return value + 1;
  if (value == 0) return precision_of(type).smallest;
  if (type == ElementType::kDouble) return std::nextafter(value, INFINITY);
  return std::nextafter(static_cast<float>(value), INFINITY);
}

double next_below(double value, ElementType type) { return -next_above(-value, type); }

/// The values below, at and above a number, as far as there are any.
std::vector<Interval> parts_at(const Interval& all, double number, ElementType type) {
  std::vector<Interval> parts;
  if (all.lo < number) parts.push_back({all.lo, next_below(number, type)});
  if (is_within(number, all)) parts.push_back({number, number});
  if (all.hi > number) parts.push_back({next_above(number, type), all.hi});
  return parts;
}

}  // namespace

bool safe_by_splitting(const Graph& graph, const GraphShapes& shapes, const Ranges& ranges,
                       const NumericValues& values, std::uint32_t node) {
  const Cone cone = cone_of(graph, node);
  if (cone.inside.size() < 2 || graph.nodes[node].inputs.empty()) return false;
  ConeRun run(graph, shapes, ranges, values, cone);
  // Numbers that values are compared with, and 0.
  std::set<double> numbers = {0};
  std::vector<std::uint32_t> candidates;
  for (const auto* list : {&cone.edge, &cone.inside})
    for (const std::uint32_t each : *list) {
      if (each == node) continue;
      const Interval value = run.value({each, 0}).whole();
      if (value.lo == value.hi) {
        if (numbers.size() < kMostNumbers) numbers.insert(value.lo);
      } else if (candidates.size() < kMostSplit) {
        candidates.push_back(each);
      }
    }
  for (const std::uint32_t candidate : candidates) {
    const AbstractTensor& tensor = run.value({candidate, 0});
    const Interval all = tensor.whole();
    const ElementType type = tensor.type;
    for (const double number : numbers) {
      if (!is_within(number, all)) continue;
      const std::vector<Interval> parts = parts_at(all, number, type);
      const bool safe = std::all_of(parts.begin(), parts.end(), [&](const Interval& part) {
        return run.is_safe(candidate, part);
      });
      if (safe) return true;
    }
  }
  return false;
}

}  // namespace neutra::graphs
