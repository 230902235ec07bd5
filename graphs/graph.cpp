#include "graphs/graph.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/words.h"

namespace neutra::graphs {

bool is_floating(ElementType type) {
  return type == ElementType::kHalf || type == ElementType::kBfloat16 ||
         type == ElementType::kFloat || type == ElementType::kDouble;
}

std::string to_string(ElementType type) {
  switch (type) {
    case ElementType::kHalf:
      return "half";
    case ElementType::kBfloat16:
      return "bfloat16";
    case ElementType::kFloat:
      return "float";
    case ElementType::kDouble:
      return "double";
    case ElementType::kInteger:
      return "integer";
    case ElementType::kBool:
      return "bool";
    case ElementType::kText:
      return "text";
    case ElementType::kOther:
      return "other";
    case ElementType::kUnknown:
      break;
  }
  return "unknown";
}

std::int64_t Tensor::size() const {
  std::int64_t size = 1;
  for (const std::int64_t dimension : shape) size *= dimension;
  return size;
}

const Attribute* Node::find(std::string_view attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? nullptr : &found->second;
}

std::int64_t Node::integer(std::string_view attribute, std::int64_t fallback) const {
  const Attribute* found = find(attribute);
  return found && found->integer ? *found->integer : fallback;
}

std::string Node::text(std::string_view attribute, const std::string& fallback) const {
  const Attribute* found = find(attribute);
  return found && found->text ? *found->text : fallback;
}

ElementType Node::type(std::string_view attribute) const {
  const Attribute* found = find(attribute);
  return found && found->type ? *found->type : ElementType::kUnknown;
}

std::vector<std::int64_t> Node::integers(std::string_view attribute) const {
  const Attribute* found = find(attribute);
  return found ? found->integers : std::vector<std::int64_t>{};
}

std::optional<std::uint32_t> Graph::find(std::string_view name) const {
  const auto found = index.find(std::string(name));
  if (found == index.end()) return std::nullopt;
  return found->second;
}

std::string Graph::name_of(Endpoint endpoint) const {
  const std::string& name = nodes[endpoint.node].name;
  return endpoint.output == 0 ? name : name + ":" + std::to_string(endpoint.output);
}

bool closes_loop(const Graph& graph, Endpoint input) {
  const std::string& op = graph.nodes[input.node].op;
  return op == "NextIteration" || op == "RefNextIteration";
}

bool is_gradient(const Node& node) {
  std::string name = lower(node.name);
  for (std::size_t at; (at = name.find("stopgradient")) != std::string::npos;) name.erase(at, 12);
  for (std::size_t at; (at = name.find("stop_gradient")) != std::string::npos;) name.erase(at, 13);
  return contains(name, "gradient");
}

namespace {

/// The nodes of a circle among those that could not be ordered.
std::vector<std::string> circle_of(const Graph& graph, const std::vector<std::uint32_t>& missing) {
  std::uint32_t at = 0;
  while (missing[at] == 0) ++at;
  std::vector<std::uint32_t> path;
  std::vector<std::int64_t> place(graph.nodes.size(), -1);
  while (place[at] < 0) {
    place[at] = static_cast<std::int64_t>(path.size());
    path.push_back(at);
    for (const Endpoint& input : graph.nodes[at].inputs) {
      if (missing[input.node] > 0 && !closes_loop(graph, input)) {
        at = input.node;
        break;
      }
    }
  }
  std::vector<std::string> names;
  for (std::size_t i = path.size(); i-- > static_cast<std::size_t>(place[at]);)
    names.push_back(graph.nodes[path[i]].name);
  return names;
}

}  // namespace

void finish(Graph& graph) {
  graph.index.clear();
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (!graph.index.emplace(graph.nodes[i].name, i).second)
      throw input_error(describe(graph.file, "node '" + graph.nodes[i].name + "'",
                                 "a second node of this name", "each name once"));
  std::vector<std::uint32_t> missing(graph.nodes.size(), 0);
  std::vector<std::vector<std::uint32_t>> users(graph.nodes.size());
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const Endpoint& input : graph.nodes[i].inputs) {
      if (closes_loop(graph, input)) continue;
      users[input.node].push_back(i);
      ++missing[i];
    }
  }
  graph.order.clear();
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (missing[i] == 0) graph.order.push_back(i);
  for (std::size_t next = 0; next < graph.order.size(); ++next)
    for (const std::uint32_t user : users[graph.order[next]])
      if (--missing[user] == 0) graph.order.push_back(user);
  if (graph.order.size() == graph.nodes.size()) return;
  std::vector<std::string> names = circle_of(graph, missing);
  const std::size_t count = names.size();
  if (count > 8) {
    names.resize(8);
    names.push_back("... (" + std::to_string(count) + " nodes)");
  }
  throw input_error(describe(graph.file, "", "nodes in a circle: " + join(names, " -> "),
                             "circles through NextIteration, which loops have"));
}

}  // namespace neutra::graphs
