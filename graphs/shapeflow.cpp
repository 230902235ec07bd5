#include "graphs/shapeflow.h"

#include <algorithm>
#include <cstdlib>

namespace neutra::graphs {
namespace {

const ShapeRules& shape_rules() {
  static const ShapeRules rules = [] {
    ShapeRules all;
    add_source_rules(all);
    add_elementwise_rules(all);
    add_structure_rules(all);
    add_slice_rules(all);
    add_layer_rules(all);
    return all;
  }();
  return rules;
}

/// The sizes that a node declares: of a placeholder or variable its shape, of a constant of whole
/// numbers, which other nodes take as sizes, its elements.
std::vector<std::int64_t>* sizes_of(Node& node) {
  const auto found = node.attributes.find(node.op == "Const" ? "value" : "shape");
  if (found == node.attributes.end()) return nullptr;
  Attribute& attribute = found->second;
  const bool source = node.op == "Placeholder" || node.op == "VariableV2" ||
                      node.op == "Variable" || node.op == "VarHandleOp";
  if (source) return attribute.shape && *attribute.shape ? &**attribute.shape : nullptr;
  return nullptr;
}

/// Nodes that the mismatch can come from, with one of whose sizes it is told.
std::vector<SizeChange> candidates(Graph& graph, const ShapeMismatch& mismatch) {
  constexpr std::size_t kMostNodes = 2000, kMostCandidates = 40;
  std::vector<SizeChange> found;
  std::vector<char> seen(graph.nodes.size(), 0);
  std::vector<std::uint32_t> queue = {mismatch.node};
  seen[mismatch.node] = 1;
  for (std::size_t i = 0; i < queue.size() && i < kMostNodes; ++i) {
    Node& node = graph.nodes[queue[i]];
    for (const Endpoint& input : node.inputs)
      if (!seen[input.node]) {
        seen[input.node] = 1;
        queue.push_back(input.node);
      }
    const auto add = [&](std::size_t place, std::int64_t from) {
      for (const std::int64_t to : mismatch.sizes) {
        const bool one_of =
            std::find(mismatch.sizes.begin(), mismatch.sizes.end(), from) != mismatch.sizes.end();
        if (one_of && to != from && to > 0 && found.size() < kMostCandidates)
          found.push_back({queue[i], place, from, to, 0});
      }
      // Where elements are counted, a size may be what is left of the other count.
      if (mismatch.sizes.size() == 2 && from > 0 && mismatch.sizes[1] % from == 0 &&
          mismatch.sizes[1] / from > 0 && mismatch.sizes[0] % (mismatch.sizes[1] / from) == 0) {
        const std::int64_t to = mismatch.sizes[0] / (mismatch.sizes[1] / from);
        if (to != from && to > 0 && found.size() < kMostCandidates)
          found.push_back({queue[i], place, from, to, 0});
      }
    };
    if (const auto* sizes = sizes_of(node)) {
      for (std::size_t place = 0; place < sizes->size(); ++place)
        if ((*sizes)[place] >= 0) add(place, (*sizes)[place]);
    } else if (node.op == "Const") {
      const Attribute* value = node.find("value");
      if (!value || !value->tensor || value->tensor->type != ElementType::kInteger) continue;
      const Tensor& tensor = *value->tensor;
      if (tensor.size() > 64 || tensor.shape.size() > 1) continue;
      for (std::size_t place = 0; place < static_cast<std::size_t>(tensor.size()); ++place)
        add(place, static_cast<std::int64_t>(tensor.values[tensor.values.size() == 1 ? 0 : place]));
    }
  }
  return found;
}

/// Sets the size of a candidate.
void set_size(Node& node, std::size_t place, std::int64_t size) {
  if (auto* sizes = sizes_of(node)) {
    (*sizes)[place] = size;
    return;
  }
  Tensor& tensor = *node.attributes.find("value")->second.tensor;
  if (tensor.values.size() == 1)
    tensor.values.resize(static_cast<std::size_t>(tensor.size()), tensor.values[0]);
  tensor.values[place] = static_cast<double>(size);
}

}  // namespace

const TensorShape& GraphShapes::of(Endpoint endpoint) const {
  static const TensorShape nothing;
  const auto& list = outputs[endpoint.node];
  return endpoint.output < list.size() ? list[endpoint.output] : nothing;
}

GraphShapes infer_shapes(const Graph& graph) {
  GraphShapes result;
  result.outputs.resize(graph.nodes.size());
  ShapeContext context(graph, result.outputs, result.symbols, result.mismatches);
  for (const std::uint32_t number : graph.order) {
    const auto rule = shape_rules().find(graph.nodes[number].op);
    if (rule == shape_rules().end()) {
      result.unknown.push_back(number);
      continue;
    }
    context.begin(number);
    rule->second(context);
  }
  std::stable_sort(result.mismatches.begin(), result.mismatches.end(),
                   [](const auto& a, const auto& b) { return a.node < b.node; });
  return result;
}

GraphShapes check_shapes(const Graph& graph) {
  constexpr std::size_t kMostRuns = 200;
  GraphShapes result = infer_shapes(graph);
  if (result.mismatches.empty()) return result;
  Graph changed = graph;
  std::size_t runs = 0;
  for (ShapeMismatch& mismatch : result.mismatches) {
    for (SizeChange change : candidates(changed, mismatch)) {
      if (++runs > kMostRuns) return result;
      Node& node = changed.nodes[change.node];
      const auto kept = node.attributes;
      set_size(node, change.place, change.to);
      const GraphShapes after = infer_shapes(changed);
      node.attributes = kept;
      change.left = after.mismatches.size();
      const bool fits =
          std::none_of(after.mismatches.begin(), after.mismatches.end(),
                       [&](const ShapeMismatch& other) { return other.node == mismatch.node; });
      const auto rank = [](const SizeChange& each) {
        return std::pair(each.left, std::llabs(each.to - each.from));
      };
      if (fits && (!mismatch.change || rank(change) < rank(*mismatch.change)))
        mismatch.change = change;
    }
  }
  return result;
}

}  // namespace neutra::graphs
