#include "program/formats/keras_graph.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

#include "base/words.h"
#include "program/graph.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// Keras's order of the layers of a functional model.
class Order {
 public:
  explicit Order(const std::vector<ResolvedLayer>& layers)
      : layers_(layers), visited_(layers.size(), false), first_(layers.size(), layers.size()) {}

  std::vector<std::size_t> positions() {
    visit(layers_.size() - 1);
    std::vector<std::size_t> depth(layers_.size(), 0), of_layer(layers_.size(), 0);
    for (auto call = finished_.rbegin(); call != finished_.rend(); ++call) {
      const std::size_t layer = layer_of_call(*call);
      depth[*call] = of_layer[layer] = std::max(depth[*call], of_layer[layer]);
      for (const std::size_t input : layers_[*call].inputs) {
        depth[input] = std::max(depth[input], depth[*call] + 1);
      }
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].weights_of) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return of_layer[a] != of_layer[b] ? of_layer[a] > of_layer[b] : first_[a] < first_[b];
    });
    return order;
  }

 private:
  std::size_t layer_of_call(std::size_t position) const {
    return layers_[position].weights_of.value_or(position);
  }

  /// Inputs first; layers are counted as the walk comes to them.
  void visit(std::size_t position) {
    if (visited_[position]) return;
    visited_[position] = true;
    std::size_t& first = first_[layer_of_call(position)];
    if (first == layers_.size()) first = seen_++;
    for (const std::size_t input : layers_[position].inputs) visit(input);
    finished_.push_back(position);
  }

  const std::vector<ResolvedLayer>& layers_;
  std::vector<bool> visited_;
  std::vector<std::size_t> first_;  ///< of each layer: the how many-th that was come to
  std::size_t seen_ = 0;
  std::vector<std::size_t> finished_;  ///< calls, behind their inputs
};

}  // namespace

KerasGraph keras_graph(const std::vector<ResolvedLayer>& layers) {
  KerasGraph graph;
  graph.chain = is_chain(layers);
  if (graph.chain) {
    graph.order.resize(layers.size());
    std::iota(graph.order.begin(), graph.order.end(), std::size_t{0});
  } else {
    graph.order = Order(layers).positions();
  }
  const Wiring wiring = wiring_of(layers);
  std::vector<std::string> classes;
  for (const std::size_t position : graph.order) classes.push_back(layers[position].class_name);
  const std::vector<std::string> names = keras_layer_names(classes);
  graph.names.resize(layers.size());
  graph.call.resize(layers.size(), 0);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::vector<std::size_t> calls = calls_of(wiring, graph.order[k]);
    for (std::size_t n = 0; n < calls.size(); ++n) {
      graph.names[calls[n]] = names[k];
      graph.call[calls[n]] = n;
    }
  }
  return graph;
}

std::string functional_calls(const std::vector<ResolvedLayer>& layers, const KerasGraph& graph,
                             const std::string& input,
                             const std::function<std::string(std::size_t)>& layer) {
  const auto value = [&](std::size_t i) {
    const std::string number = std::to_string(graph.call[i] + 1);
    return graph.names[i] + (graph.call[i] > 0 ? "_call_" + number : "");
  };
  const Wiring wiring = wiring_of(layers);
  std::string text = value(0) + " = " + input + "\n";
  for (std::size_t i = 1; i < layers.size(); ++i) {
    const bool shared = calls_of(wiring, layers[i].weights_of.value_or(i)).size() > 1;
    std::string called = graph.names[i] + "_layer";
    if (!layers[i].weights_of) {
      const std::string made = layer(i);
      if (shared) text.append(called).append(" = ").append(made).append("\n");
      if (!shared) called = made;
    }
    std::vector<std::string> inputs;
    for (const std::size_t from : layers[i].inputs) inputs.push_back(value(from));
    const bool merges = kind_of(layers[i]) == LayerKind::kMerge;
    const std::string arguments = merges ? "[" + join(inputs) + "]" : inputs.front();
    text += value(i) + " = " + called + "(" + arguments + ")\n";
  }
  return text + "model = Model(" + value(0) + ", " + value(layers.size() - 1) + ")\n";
}

std::string keras_snake_case(const std::string& class_name) {
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  // (.)([A-Z][a-z]+) -> \1_\2, matches one behind the other
  std::string once;
  for (std::size_t i = 0; i < class_name.size();) {
    once += class_name[i++];
    if (i + 1 >= class_name.size() || !upper(class_name[i]) || !lower(class_name[i + 1])) continue;
    once += '_';
    once += class_name[i++];
    while (i < class_name.size() && lower(class_name[i])) once += class_name[i++];
  }
  // ([a-z])([A-Z]) -> \1_\2
  std::string name;
  for (std::size_t i = 0; i < once.size(); ++i) {
    if (i > 0 && lower(once[i - 1]) && upper(once[i])) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(once[i])));
  }
  return name;
}

std::vector<std::string> keras_layer_names(const std::vector<std::string>& class_names) {
  std::map<std::string, int> used;
  std::vector<std::string> names;
  for (const std::string& class_name : class_names) {
    const std::string name = keras_snake_case(class_name);
    const int before = used[name]++;
    names.push_back(before == 0 ? name : name + "_" + std::to_string(before));
  }
  return names;
}

}  // namespace neutra::program
