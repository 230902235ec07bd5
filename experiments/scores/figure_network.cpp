#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "base/svg.h"
#include "experiments/scores/figures.h"

namespace neutra::experiments {
namespace {

constexpr double kMargin = 40, kRow = 22, kColumn = 150, kRadius = 8, kLegend = 30;
constexpr double kLeastHeight = 160;
constexpr double kLetter = 7.5;  ///< about, of a name
constexpr int kSweeps = 8;
constexpr double kFixWords = 130;  ///< room for the words about the known fix
constexpr const char* kRing =
    "fill=\"none\" stroke=\"black\" stroke-width=\"1.5\" stroke-dasharray=\"3 2\"";

using Layers = std::vector<std::vector<std::int64_t>>;
using Neighbours = std::map<std::int64_t, std::vector<std::int64_t>>;

/// Nodes by distance from the buggy program along the edges; those that it doesn't reach with it.
Layers layers_of(const std::vector<const search::Node*>& nodes, const Neighbours& children) {
  std::map<std::int64_t, std::size_t> depth = {{0, 0}};
  std::vector<std::int64_t> queue = {0};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto found = children.find(queue[next]);
    if (found == children.end()) continue;
    for (const std::int64_t child : found->second) {
      if (depth.try_emplace(child, depth[queue[next]] + 1).second) queue.push_back(child);
    }
  }
  Layers layers(1);
  for (const search::Node* node : nodes) {
    const std::size_t layer = depth[node->id];
    if (layer >= layers.size()) layers.resize(layer + 1);
    layers[layer].push_back(node->id);
  }
  return layers;
}

/// Puts each node near the mean place of its neighbours in the other layers, so that fewer edges
/// cross (Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical system
/// structures, 1981).
void order(Layers& layers, const Neighbours& parents, const Neighbours& children) {
  std::map<std::int64_t, double> place;
  const auto number = [&](const std::vector<std::int64_t>& layer) {
    for (std::size_t i = 0; i < layer.size(); ++i) {
      place[layer[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
    }
  };
  for (const auto& layer : layers) number(layer);
  const auto sort_layer = [&](std::vector<std::int64_t>& layer, const Neighbours& others) {
    std::map<std::int64_t, double> wish;
    for (const std::int64_t id : layer) {
      const auto found = others.find(id);
      wish[id] = place[id];
      if (found == others.end()) continue;
      double sum = 0;
      for (const std::int64_t other : found->second) sum += place[other];
      wish[id] = sum / static_cast<double>(found->second.size());
    }
    std::stable_sort(layer.begin(), layer.end(),
                     [&](std::int64_t a, std::int64_t b) { return wish[a] < wish[b]; });
    number(layer);
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 1; i < layers.size(); ++i) sort_layer(layers[i], parents);
    for (std::size_t i = layers.size() - 1; i-- > 0;) sort_layer(layers[i], children);
  }
}

const char* style_of(const search::Node& node) {
  if (node.id == 0) return "fill=\"black\" stroke=\"black\"";
  if (node.alternative && node.significant) return "fill=\"#0072b2\" stroke=\"black\"";
  if (node.alternative) return "fill=\"#80d0a0\" stroke=\"black\"";
  return "fill=\"white\" stroke=\"black\"";
}

std::string title_of(const search::Network& network, const search::Node& node) {
  std::string title = "node " + std::to_string(node.id);
  if (network.is_known_fix(node)) title += ", the known fix";
  if (std::isfinite(node.mean)) title += ", mean " + shortest(node.mean);
  return title + "\n" + program::to_string(node.parameters);
}

}  // namespace

std::string network_figure(const search::Network& network) {
  const std::vector<const search::Node*> nodes = search::drawn_nodes(network);
  Neighbours parents, children;
  for (const search::Edge& edge : network.edges) {
    children[edge.parent].push_back(edge.child);
    parents[edge.child].push_back(edge.parent);
  }
  Layers layers = layers_of(nodes, children);
  order(layers, parents, children);

  std::size_t tallest = 1;
  for (const auto& layer : layers) tallest = std::max(tallest, layer.size());
  const double inner = std::max(kLeastHeight, kRow * static_cast<double>(tallest));
  const std::string buggy = network.fault_id + ", buggy";
  const double first_words = std::max(130.0, 40 + kLetter * static_cast<double>(buggy.size()));
  const bool fix_is_there = std::any_of(nodes.begin(), nodes.end(), [&](const search::Node* node) {
    return network.is_known_fix(*node);
  });
  const double last_words = fix_is_there ? kFixWords : 0;
  const double width = std::max(390 + first_words + last_words,
                                2 * kMargin + kColumn * static_cast<double>(layers.size() - 1));
  SvgPicture picture(width, inner + 2 * kMargin + kLegend);
  std::map<std::int64_t, std::pair<double, double>> at;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (std::size_t j = 0; j < layers[i].size(); ++j) {
      const double share = (static_cast<double>(j) + 0.5) / static_cast<double>(layers[i].size());
      at[layers[i][j]] = {kMargin + kColumn * static_cast<double>(i), kMargin + share * inner};
    }
  }
  for (const search::Edge& edge : network.edges) {
    if (!at.count(edge.parent) || !at.count(edge.child)) continue;
    const auto [x1, y1] = at[edge.parent];
    const auto [x2, y2] = at[edge.child];
    picture.line(x1, y1, x2, y2, "stroke=\"#999\" stroke-width=\"0.8\"");
  }
  for (const search::Node* node : nodes) {
    const auto [x, y] = at[node->id];
    if (node->id == 0) {
      picture.square(x, y, kRadius, style_of(*node), title_of(network, *node));
    } else {
      if (network.is_known_fix(*node)) picture.circle(x, y, kRadius + 4, kRing);
      picture.circle(x, y, kRadius, style_of(*node), title_of(network, *node));
    }
  }
  search::Node better, on_par, other;
  better.id = on_par.id = other.id = 1;
  better.alternative = better.significant = on_par.alternative = true;
  const double y = kMargin + inner + kMargin;
  double x = kMargin;
  picture.square(x, y - 4, 6, style_of(search::Node{}));
  picture.text(x + 12, y, buggy);
  x += first_words;
  struct Entry {
    const search::Node* node;
    const char* words;
    double width;
  };
  for (const auto& [node, words, room] : {Entry{&better, "better than the fix", 150},
                                          {&on_par, "on par", 90},
                                          {&other, "neutral", 90}}) {
    picture.circle(x, y - 4, 6, style_of(*node));
    picture.text(x + 12, y, words);
    x += room;
  }
  if (fix_is_there) {
    picture.circle(x, y - 4, 8, kRing);
    picture.text(x + 14, y, "the known fix");
  }
  return picture.document();
}

}  // namespace neutra::experiments
