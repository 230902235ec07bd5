#include "training/fused/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "program/document.h"
#include "program/graph.h"
#include "program/layer.h"
#include "training/fused/layers/dense.h"
#include "training/fused/layers/registry.h"
#include "training/keras_release.h"
#include "training/losses/list.h"

namespace neutra::training::fused {
namespace {

/// The forms of a loss (training/losses/list.h).
struct LossForms {
  LossFunction on_output;
  const char* activation;  ///< over which the loss works on logits; null: none
  LossFunction on_logits;
};

LossForms find_loss(const std::string& name) {
  std::optional<LossForms> found;
  losses::for_each_loss([&]<typename Output, typename Logits>(losses::Named<Output, Logits> loss) {
    if (loss.name == name) found = {Output::kFunction, loss.activation, Logits::kFunction};
  });
  if (!found) throw NotCovered{"loss " + name};
  return *found;
}

/// The layer without the activation that it ends with.
program::ResolvedLayer without_activation(const program::ResolvedLayer& layer) {
  program::ResolvedLayer bare = layer;
  if (program::kind_of(layer) == program::LayerKind::kActivation) bare.class_name = "Activation";
  bare.config["activation"] = "linear";
  return bare;
}

/// Which tensor each layer reads.
class Wires {
 public:
  Wires(const program::ResolvedProgram& program, Builder& builder)
      : program_(program),
        builder_(builder),
        consumers_(program::consumers_of(program.layers)),
        reached_(reached_layers(program, false)),
        branches_(program.layers.size()) {
    if (!program::is_chain(program.layers)) builder.forbid_sparse_input();
  }

  /// Before a layer's steps are added.
  void begin(std::size_t position, const program::ResolvedLayer& layer) {
    builder_.begin_layer(position, layer, reached_[position]);
    std::vector<Tensor> inputs;
    for (const std::size_t from : layer.inputs) {
      inputs.push_back(branches_[from].front());
      branches_[from].erase(branches_[from].begin());
    }
    // What the last layer made for this one alone is the current tensor already.
    const bool follows =
        layer.inputs.empty() || (layer.inputs == std::vector<std::size_t>{position - 1} &&
                                 consumers_[position - 1].size() == 1);
    if (!follows) builder_.select(inputs);
    const std::size_t owner = layer.weights_of.value_or(position);
    if (!layer.weights.empty() &&
        program::calls_of(program::wiring_of(program_.layers), owner).size() > 1) {
      builder_.share_parameters(owner);
    }
    if (program::kind_of(layer) == program::LayerKind::kMerge) {
      for (Tensor& input : inputs) {
        builder_.select({input});
        settle_relu(builder_);
        input = builder_.current();
      }
      builder_.select(std::move(inputs));
    } else if (layer.class_name != "MaxPooling2D" && layer.class_name != "MaxPooling1D") {
      settle_relu(builder_);
    }
  }

  /// Behind them. Returns what the layer has made.
  Tensor end(std::size_t position) {
    std::vector<bool> reached;
    for (const std::size_t next : consumers_[position]) reached.push_back(reached_[next]);
    if (!reached.empty()) branches_[position] = branch_out(builder_, reached);
    return builder_.current();
  }

 private:
  const program::ResolvedProgram& program_;
  Builder& builder_;
  std::vector<std::vector<std::size_t>> consumers_;
  std::vector<bool> reached_;
  std::vector<std::vector<Tensor>> branches_;  ///< of each layer, those that are still to be read
};

}  // namespace

void Plan::build(const program::ResolvedProgram& program, const program::Shape& target,
                 Builder& builder) {
  std::size_t output_layer = program.layers.size();  // the one whose activation makes the output
  while (output_layer > 0 && program::is_identity(program.layers[output_layer - 1])) --output_layer;
  output_position_ = output_layer > 0 ? output_layer - 1 : 0;
  const LossForms loss = find_loss(program.loss);
  loss_ = loss.on_output;
  std::optional<std::size_t> bare;  // the layer that leaves its activation to the loss
  const std::string activation =
      output_layer > 0 ? program::last_activation(program.layers[output_layer - 1]) : "";
  if (output_layer > 0 && loss.activation &&
      program::takes_logits(program.loss_options, loss.activation, activation)) {
    bare = output_layer - 1;
    loss_ = loss.on_logits;
    output_activation_ = named_activation(activation);
  } else if (program.loss_options.from_logits && loss.activation) {
    loss_ = loss.on_logits;
  }

  if (!program.class_weights.empty() && program.loss.ends_with("hinge")) {
    throw NotCovered{"class weights with the loss " + program.loss};  // whose rows aren't their own
  }

  input_ = builder.tensor(program.input_shape, input_layout(program), false);
  builder.set_current(input_);
  Wires wires(program, builder);
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    std::optional<program::ResolvedLayer> stripped;
    if (bare == i) stripped = without_activation(program.layers[i]);
    const program::ResolvedLayer& layer = stripped ? *stripped : program.layers[i];
    const Json& config = layer.config;
    if (config.contains("activity_regularizer") && config["activity_regularizer"].is_object()) {
      throw NotCovered{"activity regularizer of layer " + std::to_string(layer.index)};
    }
    const AddLayer add = find_layer_steps(layer.class_name);
    if (add == nullptr) throw NotCovered{"layer " + layer.class_name};
    wires.begin(i, layer);
    add(builder, layer);
    outputs_.push_back(wires.end(i));
  }
  if (outputs_.empty()) outputs_.push_back(input_);
  if (output().layout == Layout::kRows && output().shape.size() == 1) {
    to_columns(builder);
    std::fill(outputs_.begin() + static_cast<std::ptrdiff_t>(output_position_), outputs_.end(),
              builder.current());
  }
  if (output().layout != Layout::kColumns || output().shape.size() != 1) {
    throw NotCovered{"outputs of shape " + program::to_string(output().shape)};
  }
  steps_ = builder.take_steps();
  sparse_layer_ = builder.sparse_layer();
  builder.provide_scratch();

  const std::size_t outputs = output().features;
  target_features_ = static_cast<std::size_t>(program::element_count(target));
  const bool sparse = takes_class_indices(program.loss);
  loss_features_ = sparse ? outputs : std::max(outputs, target_features_);
  const bool broadcasts = !sparse && outputs != target_features_;
  if (target.size() != 1 || (sparse && target_features_ != 1) ||
      (broadcasts && (std::min(outputs, target_features_) != 1 || !is_pointwise(loss_)))) {
    throw NotCovered{"targets of shape " + program::to_string(target) + " for outputs of shape " +
                     program::to_string(output().shape)};
  }
  const std::size_t capacity = builder.capacity();
  targets_ = builder.floats(Builder::batch_floats(sparse ? 1 : loss_features_, capacity));
  if (program.loss_options.label_smoothing != 0) {
    smoothed_ = builder.floats(Builder::batch_floats(loss_features_, capacity));
  }
  scratch_ = builder.floats(Builder::batch_floats(outputs, capacity));
  if (target_features_ > outputs) {
    output_copies_ = builder.floats(Builder::batch_floats(loss_features_, capacity));
    gradient_copies_ = builder.floats(Builder::batch_floats(loss_features_, builder.batch()));
  }
}

std::size_t Plan::measure(const program::ResolvedProgram& program, const program::Shape& target,
                          std::size_t batch, std::size_t capacity) {
  Builder builder(batch, capacity, nullptr, nullptr);
  Plan plan;
  plan.build(program, target, builder);
  return builder.used() * sizeof(float);
}

Plan::Plan(const program::ResolvedProgram& program, const program::Shape& target, std::size_t batch,
           std::size_t capacity, Weights& weights)
    : memory_(measure(program, target, batch, capacity) / sizeof(float)) {
  Builder builder(batch, capacity, &weights, memory_.data());
  build(program, target, builder);
}

}  // namespace neutra::training::fused
