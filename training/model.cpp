#include "training/model.h"

#include "program/layer.h"

namespace neutra::training {

Model::Model(const program::ResolvedProgram& program, Weights& weights)
    : detached_(program.loop.detached) {
  const std::vector<bool> masked = program::masked_inputs(program.layers);
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    Layer made;
    made.module = make_module(layer);
    made.masks_output = masked[i + 1];
    made.activity = regularizer(layer.config, "activity_regularizer");
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

Model::Result Model::forward(const at::Tensor& x, const ForwardPass& pass,
                             std::vector<at::Tensor>* activations, std::vector<at::Tensor>* nodes) {
  Result result{x, {}, {}};
  ForwardPass own = pass;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const at::Tensor input = result.raw;
    result.raw = layer.module->forward(input, layer.weights, own);
    const at::Tensor made = layer.masks_output ? layer.module->make_mask(input) : at::Tensor();
    if (!layer.masks_output || made.defined()) own.mask = made;
    const bool last = gives_output(i);
    if (layer.activity.active()) {
      const at::Tensor y = last ? output(result.raw) : result.raw;
      // Keras divides by the batch size.
      const at::Tensor penalty =
          (layer.activity.l1 * y.abs().sum() + layer.activity.l2 * at::square(y).sum()) / y.size(0);
      result.penalty = result.penalty.defined() ? result.penalty + penalty : penalty;
    }
    if (activations) {
      const at::NoGradGuard guard;
      activations->push_back((last ? output(result.raw) : result.raw).contiguous());
    }
    if (nodes) nodes->push_back(last ? at::Tensor() : result.raw);
    if (detached_ == i) {
      result.raw = result.raw.detach();
      if (nodes) nodes->assign(nodes->size(), at::Tensor());
    }
  }
  result.mask = own.mask;
  return result;
}

}  // namespace neutra::training
