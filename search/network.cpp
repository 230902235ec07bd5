#include "search/network.h"

#include <algorithm>
#include <set>

namespace neutra::search {

const Node* Network::find(std::int64_t id) const {
  const auto found =
      std::lower_bound(nodes.begin(), nodes.end(), id,
                       [](const Node& node, std::int64_t value) { return node.id < value; });
  return found != nodes.end() && found->id == id ? &*found : nullptr;
}

bool Network::is_known_fix(const Node& node) const {
  return fixed_parameters && node.parameters == *fixed_parameters;
}

std::vector<const Node*> Network::alternatives() const {
  std::vector<const Node*> result;
  for (const Node& node : nodes) {
    if (node.alternative) result.push_back(&node);
  }
  return result;
}

std::vector<const Node*> drawn_nodes(const Network& network) {
  std::set<std::int64_t> ids = {0};
  for (const Edge& edge : network.edges) ids.insert({edge.parent, edge.child});
  std::vector<const Node*> nodes;
  for (const std::int64_t id : ids) {
    if (const Node* node = network.find(id)) nodes.push_back(node);
  }
  return nodes;
}

std::optional<Complexity> complexity(const Network& network) {
  const auto alternatives = network.alternatives();
  if (alternatives.empty() || !network.fixed_parameters) return std::nullopt;
  const program::Parameters& fixed = *network.fixed_parameters;
  Complexity result;
  result.hyperparameters = static_cast<int>(fixed.size());
  std::int64_t differences = 0;
  double sum = 0;
  for (const Node* node : alternatives) {
    sum += node->mean;
    for (const auto& [key, value] : node->parameters) {
      const auto other = fixed.find(key);
      differences += other == fixed.end() || other->second != value;
    }
  }
  const auto count = static_cast<double>(alternatives.size());
  result.mean = static_cast<double>(differences) / count;
  if (network.ground_truth) {
    const double gain = sum / count - *network.ground_truth;
    result.improvement = network.goal == program::Goal::kMaximize ? gain : -gain;
  }
  return result;
}

}  // namespace neutra::search
