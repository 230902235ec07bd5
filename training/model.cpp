#include "training/model.h"

#include "program/graph.h"
#include "program/layer.h"

namespace neutra::training {

Model::Model(const program::ResolvedProgram& program, Weights& weights)
    : detached_(program.loop.detached), reached_(reached_layers(program, false)) {
  const std::vector<bool> masked = program::masked_outputs(program.layers);
  const auto consumers = program::consumers_of(program.layers);
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    Layer made;
    made.module = make_module(layer);
    made.activity = regularizer(layer.config, "activity_regularizer");
    made.masks_output = masked[i];
    made.inputs = layer.inputs;
    made.merges = program::kind_of(layer) == program::LayerKind::kMerge;
    for (const std::size_t input : layer.inputs) {
      if (consumers[input].back() == i) made.spent.push_back(input);
    }
    if (layer.weights_of) {
      made.weights = layers_[*layer.weights_of].weights;
      layers_.push_back(std::move(made));
      continue;
    }
    for (const Weights::Variable& variable : weights.of_layer(i)) {
      // Views of the flat buffers: autograd adds to the gradients in place.
      at::Tensor tensor = at::from_blob(variable.extent.of(weights.all()).data(), variable.shape);
      if (variable.trainable && variable.reached) {
        tensor.set_requires_grad(true);
        tensor.mutable_grad() =
            at::from_blob(variable.extent.of(weights.gradients()).data(), variable.shape);
      }
      made.weights.push_back(std::move(tensor));
    }
    layers_.push_back(std::move(made));
  }

  output_layer_ = layers_.size();
  while (output_layer_ > 0 && layers_[output_layer_ - 1].module->is_identity()) --output_layer_;
  if (output_layer_ > 0) {
    const std::string name = layers_[output_layer_ - 1].module->take_activation();
    if (!name.empty()) {
      activation_name_ = name;
      activation_ = find_activation(name);
    }
  }
}

Model::Value Model::run(Layer& layer, std::span<const Value> inputs,
                        const ForwardPass& pass) const {
  ForwardPass own = pass;
  own.mask = inputs.front().mask;
  if (!layer.merges) {
    const at::Tensor& x = inputs.front().tensor;
    const at::Tensor y = layer.module->forward(x, layer.weights, own);
    if (!layer.masks_output) return {y, {}};
    const at::Tensor made = layer.module->make_mask(x);
    return {y, made.defined() ? made : own.mask};
  }
  std::vector<at::Tensor> tensors, masks;
  for (const Value& input : inputs) {
    tensors.push_back(input.tensor);
    masks.push_back(input.mask);
  }
  return {layer.module->merge(tensors),
          layer.masks_output ? layer.module->merge_masks(masks) : at::Tensor()};
}

Model::Result Model::forward(const at::Tensor& x, const ForwardPass& pass,
                             std::vector<at::Tensor>* activations, std::vector<at::Tensor>* nodes) {
  Result result{x, {}, {}};
  std::vector<Value> values(layers_.size()), inputs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    inputs.clear();
    for (const std::size_t input : layer.inputs) inputs.push_back(values[input]);
    if (inputs.empty()) inputs.push_back({x, {}});
    Value& value = values[i] = run(layer, inputs, pass);
    const bool last = gives_output(i);
    if (layer.activity.active()) {
      const at::Tensor y = last ? output(value.tensor) : value.tensor;
      // Keras divides by the batch size.
      const at::Tensor penalty =
          (layer.activity.l1 * y.abs().sum() + layer.activity.l2 * at::square(y).sum()) / y.size(0);
      result.penalty = result.penalty.defined() ? result.penalty + penalty : penalty;
    }
    if (activations) {
      const at::NoGradGuard guard;
      activations->push_back((last ? output(value.tensor) : value.tensor).contiguous());
    }
    if (nodes) nodes->push_back(last ? at::Tensor() : value.tensor);
    if (detached_ == i) value.tensor = value.tensor.detach();
    // Memory ends with the last layer that takes it.
    for (const std::size_t input : layer.spent) values[input] = {};
    result.raw = value.tensor;
    result.mask = value.mask;
  }
  for (std::size_t i = 0; nodes && i < nodes->size(); ++i) {
    if (!reached_[i]) (*nodes)[i] = at::Tensor();
  }
  return result;
}

}  // namespace neutra::training
