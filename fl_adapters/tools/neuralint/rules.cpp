#include "fl_adapters/tools/neuralint/rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fl_adapters/tools/neuralint/graph.h"

namespace neutra::fl_adapters::neuralint {
namespace {

/// What the rules found: layers by code; the learner and the architecture are layer 0.
using Findings = std::map<std::string, std::set<std::size_t>>;
constexpr std::size_t kWhole = 0;

/// The number of a node.
std::size_t number(std::size_t node) { return node + 1; }

std::int64_t setting(const Node& node, const char* name) { return node.config.at(name); }
std::int64_t extent(const Node& node, const char* name, std::size_t axis) {
  return node.config.at(name)[axis];
}

/// Has it enough convolutions and poolings to be judged as a deep network?
bool is_deep(const Graph& graph) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
           return node.is("conv2d") || node.pools();
         }) >= message_table().threshold("deep_layers");
}

void check_ranks(const Graph& graph, Findings& found) {  // f001
  for (std::size_t i = 0; graph.repaired() && i + 1 < graph.size(); ++i) {
    if (graph.at(i + 1).is("dense") && graph.at(i).out && graph.at(i).out->size() > 1) {
      found["f001"].insert(number(i));
    }
  }
}

void check_pooling(const Graph& graph, Findings& found) {  // f002, f027
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!graph.at(i).is("conv2d")) continue;
    if (!graph.after(i, [](const Node& node) { return node.pools(); })) {
      found["f002"].insert(kWhole);
    }
  }
  for (std::size_t i = 0; i < graph.size() && is_deep(graph) && !found.contains("f002"); ++i) {
    if (graph.at(i).is("conv2d") &&
        !graph.after(i, [](const Node& node) { return node.max_pools(); })) {
      found["f027"].insert(kWhole);
      return;
    }
  }
}

void check_activations(const Graph& graph, Findings& found) {  // f003, f009
  const double hops = message_table().threshold("activation_hops");
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!graph.at(i).learns()) continue;
    int activators = 0;
    for (std::size_t k = i + 1; k < graph.size() && !graph.at(k).learns(); ++k) {
      if (graph.at(k).nonlinear()) ++activators;
    }
    if (activators > 1) found["f003"].insert(number(i));
    bool last = true;  // an output whose `linear` the repaired tool takes for none is one still
    for (std::size_t k = i + 1; k < graph.size(); ++k) last = last && graph.at(k).linear;
    if (!last && !graph.within(i, hops, [](const Node& node) { return node.nonlinear(); })) {
      found["f009"].insert(number(i));
    }
  }
}

void check_initialisers(const Graph& graph, Findings& found) {  // f004, f024
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.at(i);
    if (!node.learns()) continue;
    const std::string kernel = node.config.at("kernel_initializer").at("class_name");
    if (kernel == "Zeros" || kernel == "Ones" || kernel == "Constant") {
      found["f004"].insert(number(i));
    }
    if (node.config.at("use_bias").get<bool>() &&
        node.config.at("bias_initializer").at("class_name") != "Zeros") {
      found["f024"].insert(number(i));
    }
  }
}

void check_regularising_layers(const Graph& graph, Findings& found) {  // f005, f006, f018
  const double hops = message_table().threshold("batchnorm_hops");
  const auto normalises = [](const Node& node) { return node.is("batch_norm"); };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.at(i);
    if (node.learns() && node.config.at("use_bias").get<bool>() &&
        graph.within(i, hops, normalises)) {
      found["f005"].insert(number(i));
    }
    if (!node.is("dropout") || i + 1 == graph.size()) continue;
    std::size_t next = i + 1;
    if (graph.at(next).is("activator") && next + 1 < graph.size()) ++next;
    if (normalises(graph.at(next))) found["f006"].insert(number(i));
    if (graph.at(next).max_pools()) found["f018"].insert(number(i));
  }
}

void check_flattening(const Graph& graph, Findings& found) {  // f011
  const auto hops = static_cast<std::size_t>(message_table().threshold("flatten_hops"));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!graph.at(i).is("conv2d") && !graph.at(i).pools()) continue;
    for (std::size_t k = i + 1; k < graph.size() && k - i <= hops; ++k) {
      if (graph.at(k).is("dense") && !graph.at(i).flattens() &&
          !graph.between(i, k, [](const Node& node) { return node.flattens(); })) {
        found["f011"].insert(number(i));
      }
    }
  }
}

void check_windows(const Graph& graph, Findings& found) {  // f013
  const auto exhausted = [](const Node& node) {
    return node.max_pools() && node.out && ((*node.out)[0] <= 0 || (*node.out)[1] <= 0);
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.at(i);
    if (!node.in || node.in->size() != 3) continue;
    const auto exceeds = [&](const char* window) {
      return extent(node, window, 0) > (*node.in)[0] || extent(node, window, 1) > (*node.in)[1];
    };
    if (node.is("conv2d") && exceeds("kernel_size")) {
      for (std::size_t k = i + 1; k < graph.size() && !graph.at(k).is("conv2d"); ++k) {
        if (exhausted(graph.at(k))) found["f013"].insert(number(i));
      }
    }
    if (i > 0 && exhausted(node) && exceeds("pool_size")) found["f013"].insert(number(i));
  }
}

void check_output(const Graph& graph, Findings& found) {  // f008, f012, f015, f017, f020
  const Node& last = graph.last();
  const auto activation_is = [&](std::string_view name) {
    return last.nonlinear() && last.activation == name;
  };
  const std::int64_t labels = graph.labels();
  const TaskRules& rules = graph.rules();
  // What the repaired tool asks for must be what the task allows.
  const auto may_be = [&](const char* name) {
    return !graph.repaired() || rules.allows_activation(name);
  };
  // The published rule asks for log_loss, which is none of the tool's losses for Keras.
  if (graph.repaired() && labels > 1 && !activation_is("softmax") && may_be("softmax") &&
      (graph.loss_is("categorical_crossentropy") ||
       graph.loss_is("sparse_categorical_crossentropy"))) {
    found["f008"].insert(kWhole);
  }
  if (graph.loss_is("binary_crossentropy") && labels == 1 && !activation_is("sigmoid") &&
      may_be("sigmoid")) {
    found["f012"].insert(kWhole);
  }
  const bool one = graph.repaired() ? rules.outputs() == 1 : labels == 1;
  if (one && activation_is("softmax")) found["f017"].insert(kWhole);
  if (!last.nonlinear()) return;
  // A regression's loss is right; the activation isn't, unless it reaches all targets.
  const bool reaches =
      graph.repaired() && rules.regression() && rules.allows_activation(last.activation);
  if (graph.loss_wants_logits() && !reaches) found["f015"].insert(kWhole);
  if (graph.loss_is("binary_crossentropy") && (!activation_is("sigmoid") || labels != 1)) {
    found["f020"].insert(kWhole);
  }
  if (graph.loss_is("categorical_crossentropy") && (!activation_is("softmax") || labels == 1)) {
    found["f020"].insert(kWhole);
  }
}

void check_sizes(const Graph& graph, Findings& found) {  // f016, f019, f023
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.at(i);
    if (node.is("conv2d")) {
      if (graph.after(i, [&](const Node& later) {
            return later.is("conv2d") &&
                   (extent(later, "kernel_size", 0) < extent(node, "kernel_size", 0) ||
                    extent(later, "kernel_size", 1) < extent(node, "kernel_size", 1));
          })) {
        found["f016"].insert(number(i));
      }
      if (graph.after(i, [&](const Node& later) {
            return later.is("conv2d") && setting(later, "filters") < setting(node, "filters");
          })) {
        found["f023"].insert(number(i));
      }
    }
    if (node.is("dense") && graph.after(i, [&](const Node& later) {
          return later.is("dense") && setting(later, "units") > setting(node, "units");
        })) {
      found["f019"].insert(number(i));
    }
  }
}

void check_reshape(const Graph& graph, Findings& found) {  // f021
  for (std::size_t i = 1; i + 1 < graph.size(); ++i) {
    const Node& node = graph.at(i);
    if (node.is("reshape") && node.in && product(*node.in) != product(*node.out)) {
      found["f021"].insert(number(i));
    }
  }
}

void check_blocks(const Graph& graph, Findings& found) {  // f025, f026
  if (!is_deep(graph)) return;
  const auto convolves = [](const Node& node) { return node.is("conv2d"); };
  const auto lookback = static_cast<std::size_t>(message_table().threshold("block_hops"));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!convolves(graph.at(i))) continue;
    bool alone = true;
    for (std::size_t k = i - std::min(i, lookback); k < i; ++k) {
      alone = alone && !convolves(graph.at(k));
    }
    bool passed = false;  // an activator, dropout or batch normalisation
    for (std::size_t k = i + 1; alone && k + 1 < graph.size() && !convolves(graph.at(k)); ++k) {
      const Node& node = graph.at(k);
      if (passed && node.max_pools() && !graph.at(k + 1).is("dense") &&
          !graph.at(k + 1).is("flatten")) {
        found["f025"].insert(number(i));
      }
      passed = passed || node.is("activator") || node.is("dropout") || node.is("batch_norm");
    }
    // The published rule is switched off, and compares convolutions of different blocks.
    for (std::size_t k = i + 1; graph.repaired() && k < graph.size() && !graph.at(k).pools(); ++k) {
      if (convolves(graph.at(k)) &&
          (graph.at(k).config.at("kernel_size") != graph.at(i).config.at("kernel_size") ||
           setting(graph.at(k), "filters") != setting(graph.at(i), "filters"))) {
        found["f026"].insert(number(i));
      }
    }
  }
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("neuralint");
  return table;
}

bool asks_for_activation(const std::string& code) {
  return code == "f008" || code == "f012" || code == "f017";
}

std::optional<std::string> unreadable(const program::Program& program, ToolVariant variant) {
  const Graph graph(program, variant);
  return graph.reason().empty() ? std::nullopt : std::optional(graph.reason());
}

std::vector<int> layer_numbers(const program::Program& program, ToolVariant variant) {
  const Graph graph(program, variant);
  std::vector<int> layers;
  for (const Node& node : graph.nodes()) layers.push_back(node.layer);
  return layers;
}

std::vector<ToolMessage> check_program(const program::Program& program, ToolVariant variant,
                                       std::optional<program::DataInfo> data) {
  const Graph graph(program, variant, std::move(data));
  Findings found;
  for (const auto check : {check_ranks, check_pooling, check_activations, check_initialisers,
                           check_regularising_layers, check_flattening, check_windows, check_output,
                           check_sizes, check_reshape, check_blocks}) {
    check(graph, found);
  }
  const MessageTable& table = message_table();
  std::vector<ToolMessage> messages;
  for (const char* about : {"Learner", "Architecture"}) {
    for (const auto& [code, numbers] : found) {
      if (table.kind(code).severity != about) continue;
      const bool about_output = asks_for_activation(code);
      messages.push_back(
          table.message(code, about_output ? std::set<int>{graph.last().layer} : std::set<int>{}));
      if (about_output && !graph.repaired() && graph.last().activation == "softmax") {
        messages.back().faults.clear();
        messages.back().ignored = "the output is a softmax already";
      }
      if (code == "f015" && graph.repaired() && graph.rules().regression()) {
        messages.back().layers = {graph.last().layer};
        messages.back().faults = {{"ACH", messages.back().layers}};
        messages.back().detail = "a regression keeps its loss";
      }
    }
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const auto& [code, numbers] : found) {
      if (!numbers.contains(number(i))) continue;
      messages.push_back(table.message(code, {graph.at(i).layer},
                                       "Layer " + std::to_string(number(i)) + " of the tool"));
    }
  }
  if (graph.repaired()) graph.rules().keep_to_task(messages);
  return messages;
}

}  // namespace neutra::fl_adapters::neuralint
