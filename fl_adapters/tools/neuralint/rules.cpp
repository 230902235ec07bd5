#include "fl_adapters/neuralint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/words.h"
#include "fl_adapters/embedded.h"
#include "fl_adapters/task_rules.h"
#include "program/document.h"
#include "program/layer.h"
#include "program/normal.h"

namespace neutra::fl_adapters {
namespace neuralint {
namespace {

/// Losses by what they expect of the output; the first of each list are those that the published
/// tool knows.
constexpr std::array<std::string_view, 4> kKnownRegression{
    "hinge", "huber_loss", "mean_squared_error", "mean_absolute_error"};
constexpr std::array<std::string_view, 3> kKnownClassification{
    "binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"};
constexpr std::array<std::string_view, 3> kProbabilities{"kullback_leibler_divergence",
                                                         "kl_divergence", "poisson"};

bool contains(const auto& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// A layer of the tool's graph.
struct Node {
  int layer = 0;           ///< over config.layers
  std::string type;        ///< the tool's: "dense", "conv2d", "activator", ...
  std::string activation;  ///< of an activator
  bool linear = false;     ///< an activator that the rules take for none
  Json config;             ///< normal form, every field present
  std::optional<program::Shape> in, out;

  bool is(std::string_view wanted) const { return type == wanted; }
  bool learns() const { return is("dense") || is("conv2d"); }
  bool nonlinear() const { return is("activator") && !linear; }
  bool max_pools() const { return is("maxpooling2d"); }
  bool pools() const { return max_pools() || is("averagepooling2d") || is("globalpooling2d"); }
  bool flattens() const { return is("flatten") || is("reshape") || is("globalpooling2d"); }
};

/// The extent of a window sliding over `extent`, as the tool computes it: not what Keras does where
/// strides don't fit, and not positive where the window is too large.
std::int64_t slid(std::int64_t extent, std::int64_t window, std::int64_t stride, bool same) {
  const double free = static_cast<double>(same ? extent - 1 : extent - window);
  return static_cast<std::int64_t>(std::trunc(free / static_cast<double>(stride) + 1));
}

/// The program as the tool reads it.
class Graph {
 public:
  Graph(const program::Program& program, ToolVariant variant,
        std::optional<program::DataInfo> data = std::nullopt)
      : repaired_(variant == ToolVariant::kRepaired), rules_(program, std::move(data)) {
    std::vector<program::Problem> problems;
    const Json normal = program::normal_form(program.document, program::Defaults::kFill, problems);
    const Json* layers = program::find_layers(program.document);
    if (!problems.empty() || layers == nullptr || layers->empty()) {
      reason_ = problems.empty() ? "a model without layers" : to_string(problems.front());
      return;
    }
    read_loss(program.document, normal);
    if (!reason_.empty()) return;
    read_layers(*layers, *program::find_layers(normal));
    if (!repaired_ && known_layers_ == 1) {
      reason_ = "the tool reads no model of a single layer";
      if (layers->size() > 1) {
        reason_ += ", and of these " + std::to_string(layers->size()) +
                   " layers it knows one, layer " + std::to_string(nodes_.front().layer);
      }
    }
    if (nodes_.empty()) reason_ = "no layer that the tool knows";
    find_shapes(*layers);
  }

  const std::string& reason() const { return reason_; }
  bool repaired() const { return repaired_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  const Node& at(std::size_t i) const { return nodes_[i]; }
  const Node& last() const { return nodes_.back(); }

  bool loss_is(std::string_view name) const { return loss_ == name; }
  bool loss_wants_logits() const { return regression_; }
  const TaskRules& rules() const { return rules_; }
  /// Size of a label, which the tool is told: that of a row's target, so that class numbers have 1.
  /// To the repaired tool they are as many labels as there are classes. 0: unknown.
  std::int64_t labels() const { return repaired_ ? rules_.classes() : rules_.label_width(); }
  bool is_deep() const {
    return std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) {
             return node.is("conv2d") || node.pools();
           }) >= message_table().threshold("deep_layers");
  }

  /// Does `wanted` hold for a layer behind `from`, at most `hops` behind it?
  template <typename Wanted>
  bool within(std::size_t from, double hops, Wanted wanted) const {
    for (std::size_t i = from + 1; i < size() && static_cast<double>(i - from) <= hops; ++i) {
      if (wanted(nodes_[i])) return true;
    }
    return false;
  }
  template <typename Wanted>
  bool after(std::size_t from, Wanted wanted) const {
    return within(from, static_cast<double>(size()), wanted);
  }
  /// Does it hold for a layer between two others?
  template <typename Wanted>
  bool between(std::size_t from, std::size_t to, Wanted wanted) const {
    return to > from && within(from, static_cast<double>(to - from) - 1, wanted);
  }

 private:
  void read_loss(const Json& document, const Json& normal) {
    const std::string canonical = program::loss_word(normal.at("compile").at("loss"));
    const Json& written = document.at("compile").at("loss");
    // The tool compares the word in the script: it doesn't know "mse".
    loss_ = repaired_ || !written.is_string() ? canonical : written.get<std::string>();
    if (loss_ == "huber") loss_ = "huber_loss";
    regression_ = contains(kKnownRegression, loss_);
    if (contains(kKnownRegression, loss_) || contains(kKnownClassification, loss_)) return;
    if (repaired_) {
      regression_ = !contains(kProbabilities, loss_);
    } else {
      reason_ = "loss " + loss_ + "; the tool knows " +
                join({kKnownRegression.begin(), kKnownRegression.end()}) + ", " +
                join({kKnownClassification.begin(), kKnownClassification.end()});
    }
  }

  void read_layers(const Json& written, const Json& layers) {
    static const std::map<std::string_view, std::string_view> types{
        {"Conv2D", "conv2d"},
        {"Dense", "dense"},
        {"MaxPooling2D", "maxpooling2d"},
        {"AveragePooling2D", "averagepooling2d"},
        {"BatchNormalization", "batch_norm"},
        {"Flatten", "flatten"},
        {"Dropout", "dropout"}};
    static const std::map<std::string_view, std::string_view> overlooked{
        {"Reshape", "reshape"},
        {"ZeroPadding2D", "zeropadding2d"},
        {"GlobalAveragePooling2D", "globalpooling2d"},
        {"GlobalMaxPooling2D", "globalpooling2d"}};
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string class_name = layers[i].at("class_name");
      Node node;
      node.layer = static_cast<int>(i);
      node.config = layers[i].at("config");
      if (const auto known = types.find(class_name); known != types.end()) {
        node.type = known->second;
      } else if (const auto mended = overlooked.find(class_name);
                 repaired_ && mended != overlooked.end()) {
        node.type = mended->second;
      } else if (class_name == "Activation") {
        add_activator(node.layer, node.config.at("activation"));
        ++known_layers_;
        continue;
      } else if (class_name == "ReLU" || class_name == "ELU" || class_name == "LeakyReLU" ||
                 class_name == "Softmax") {
        // The tool compares names with those of activation functions: Softmax isn't softmax.
        add_activator(node.layer, repaired_ && class_name == "Softmax" ? "softmax" : class_name);
        ++known_layers_;
        continue;
      } else {
        continue;
      }
      nodes_.push_back(node);
      ++known_layers_;
      if (!node.learns()) continue;
      const std::string activation = node.config.at("activation");
      if (activation != "linear") {
        add_activator(node.layer, activation);
      } else if (i + 1 == layers.size() && !repaired_) {
        // To the tool it is an activation like any. Model files, which know `trainable`, write it
        // for none: there, and in hidden layers, it is taken for none. At the output of a
        // classifier it counts: the study's scripts of M2 and R7 spell it out.
        const Json& config = written[i].at("config");
        const Json* own = member(config, "activation");
        if (own != nullptr && *own == "linear" && !(regression_ && config.contains("trainable"))) {
          add_activator(node.layer, activation);
        }
      }
    }
  }

  void add_activator(int layer, std::string activation) {
    Node node;
    node.layer = layer;
    node.type = "activator";
    node.linear = repaired_ && activation == "linear";
    node.activation = std::move(activation);
    node.config = Json::object();
    nodes_.push_back(std::move(node));
  }

  /// Shapes as the tool infers them; unknown from a layer on that doesn't fit.
  void find_shapes(const Json& written) {
    std::optional<program::Shape> shape;
    if (const Json* config = member(written[0], "config")) {
      for (const char* name : {"batch_input_shape", "batch_shape"}) {
        const Json* declared = member(*config, name);
        if (declared == nullptr || !declared->is_array() || declared->empty()) continue;
        shape.emplace();
        for (std::size_t i = 1; i < declared->size(); ++i) {
          if (!(*declared)[i].is_number_integer()) return;
          shape->push_back((*declared)[i]);
        }
      }
    }
    for (Node& node : nodes_) {
      node.in = shape;
      node.out = shape = output_of(node, shape);
    }
  }

  std::optional<program::Shape> output_of(const Node& node,
                                          const std::optional<program::Shape>& in) const {
    const auto extent = [&](const char* window, const char* strides, std::size_t axis) {
      const Json& steps = node.config.at(node.config.at(strides).is_null() ? window : strides);
      return slid((*in)[axis], node.config.at(window)[axis], steps[axis],
                  node.config.at("padding") == "same");
    };
    if (node.is("dense")) {
      const std::int64_t units = node.config.at("units");
      if (!repaired_ || !in || in->empty()) return program::Shape{units};
      program::Shape out = *in;
      out.back() = units;
      return out;
    }
    if (!in) return std::nullopt;
    if (node.is("conv2d") || node.is("maxpooling2d") || node.is("averagepooling2d")) {
      if (in->size() != 3) return std::nullopt;
      const char* window = node.is("conv2d") ? "kernel_size" : "pool_size";
      const std::int64_t channels =
          node.is("conv2d") ? node.config.at("filters").get<std::int64_t>() : (*in)[2];
      return program::Shape{extent(window, "strides", 0), extent(window, "strides", 1), channels};
    }
    if (node.is("zeropadding2d")) {
      if (in->size() != 3) return std::nullopt;
      const auto padding = node.config.at("padding").get<std::vector<program::Shape>>();
      return program::Shape{(*in)[0] + padding[0][0] + padding[0][1],
                            (*in)[1] + padding[1][0] + padding[1][1], (*in)[2]};
    }
    if (node.is("globalpooling2d")) return in->empty() ? in : program::Shape{in->back()};
    if (node.is("flatten")) return program::Shape{product(*in)};
    if (node.is("reshape")) {
      program::Shape out = node.config.at("target_shape").get<program::Shape>();
      const auto open = std::find(out.begin(), out.end(), -1);
      if (open != out.end()) {
        *open = 1;
        const std::int64_t rest = product(out);
        *open = rest == 0 ? 0 : product(*in) / rest;
      }
      return out;
    }
    return in;
  }

 public:
  static std::int64_t product(const program::Shape& shape) {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) {
      // Only the sign and equality matter; a shape this large is refused elsewhere.
      if (extent != 0 && std::llabs(n) > program::kMaxElements) return program::kMaxElements;
      n *= extent;
    }
    return n;
  }

 private:
  bool repaired_;
  TaskRules rules_;
  bool regression_ = false;
  int known_layers_ = 0;
  std::string reason_;
  std::string loss_;
  std::vector<Node> nodes_;
};

/// What the rules found: layers by code; the learner and the architecture are layer 0.
using Findings = std::map<std::string, std::set<std::size_t>>;
constexpr std::size_t kWhole = 0;

/// The number of a node.
std::size_t number(std::size_t node) { return node + 1; }

std::int64_t setting(const Node& node, const char* name) { return node.config.at(name); }
std::int64_t extent(const Node& node, const char* name, std::size_t axis) {
  return node.config.at(name)[axis];
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
  for (std::size_t i = 0; i < graph.size() && graph.is_deep() && !found.contains("f002"); ++i) {
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
    if (node.is("reshape") && node.in && Graph::product(*node.in) != Graph::product(*node.out)) {
      found["f021"].insert(number(i));
    }
  }
}

void check_blocks(const Graph& graph, Findings& found) {  // f025, f026
  if (!graph.is_deep()) return;
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
  static const MessageTable table(embedded::neuralint_messages,
                                  "fl_adapters/messages/neuralint.json");
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

namespace {

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  const auto start = std::chrono::steady_clock::now();
  Localisation result;
  if (const auto reason = unreadable(faulty.program, context.variant)) {
    result.status = LocalisationStatus::kNotApplicable;
    result.reason = *reason;
    result.faults.applicable = false;
  } else {
    result.messages =
        check_program(faulty.program, context.variant, data_of(faulty.program, context.trainer));
    result.faults = answer_of(result.messages);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace
}  // namespace neuralint

extern const Tool neuralint_tool{
    "neuralint",
    "2023-10",
    ToolKind::kNative,
    {ToolNeed::kProgram},
    "rules on layers, initialisers, output and loss, read off the program",
    "Nikanjam, Braiek, Morovati and Khomh, Automatic Fault Detection for Deep Learning Programs "
    "Using Graph Transformations, TOSEM 31(1), 2021; https://github.com/neuralint/neuralint",
    neuralint::localise,
    neuralint::message_table};

}  // namespace neutra::fl_adapters
