#include "fl_adapters/tools/neuralint/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/words.h"
#include "program/document.h"
#include "program/layer.h"
#include "program/normal.h"

namespace neutra::fl_adapters::neuralint {
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

/// The extent of a window sliding over `extent`, as the tool computes it: not what Keras does where
/// strides don't fit, and not positive where the window is too large.
std::int64_t slid(std::int64_t extent, std::int64_t window, std::int64_t stride, bool same) {
  const double free = static_cast<double>(same ? extent - 1 : extent - window);
  return static_cast<std::int64_t>(std::trunc(free / static_cast<double>(stride) + 1));
}

}  // namespace

Graph::Graph(const program::Program& program, ToolVariant variant,
             std::optional<program::DataInfo> data)
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

void Graph::read_loss(const Json& document, const Json& normal) {
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

void Graph::read_layers(const Json& written, const Json& layers) {
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
    } else if (const auto corrected = overlooked.find(class_name);
               repaired_ && corrected != overlooked.end()) {
      node.type = corrected->second;
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

void Graph::add_activator(int layer, std::string activation) {
  Node node;
  node.layer = layer;
  node.type = "activator";
  node.linear = repaired_ && activation == "linear";
  node.activation = std::move(activation);
  node.config = Json::object();
  nodes_.push_back(std::move(node));
}

void Graph::find_shapes(const Json& written) {
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

std::optional<program::Shape> Graph::output_of(const Node& node,
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

std::int64_t product(const program::Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) {
    // Only the sign and equality matter; a shape this large is refused elsewhere.
    if (extent != 0 && std::llabs(n) > program::kMaxElements) return program::kMaxElements;
    n *= extent;
  }
  return n;
}

}  // namespace neutra::fl_adapters::neuralint
