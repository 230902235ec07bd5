#include "training/model.h"

#include <algorithm>
#include <cmath>

#include "training/initializers.h"

namespace neutra {
namespace {

constexpr std::size_t kAlignment =
    16;  ///< floats: a cache line, so that kernels see the same alignment in every run

std::size_t element_product(const Shape& shape) {
  std::size_t product = 1;
  for (const std::int64_t n : shape) product *= static_cast<std::size_t>(n);
  return product;
}

at::Tensor view_of(const at::Tensor& flat, const Extent& extent, const Shape& shape) {
  return flat
      .narrow(0, static_cast<std::int64_t>(extent.begin), static_cast<std::int64_t>(extent.size))
      .view(shape)
      .detach();
}

}  // namespace

Model::Penalty Model::read_penalty(const Json& config, const std::string& field) {
  const auto it = config.find(field);
  if (it == config.end() || !it->is_object()) return {};
  const Json& values = it->at("config");
  return {static_cast<float>(number_or(values, "l1", 0)),
          static_cast<float>(number_or(values, "l2", 0))};
}

Model::Model(const ResolvedProgram& program, RandomKey key) {
  // Places: trainable variables first, so that the optimiser's pass is over one span.
  std::size_t end = 0;
  auto place = [&](bool trainable) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (std::size_t k = 0; k < layers_[i].trainable.size(); ++k) {
        if (layers_[i].trainable[k] != trainable) continue;
        const Extent extent{end, element_product(program.layers[i].weights[k].shape)};
        layers_[i].extents[k] = extent;
        (trainable ? trainable_variables_ : other_variables_).push_back(extent);
        end += (extent.size + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
  };
  for (const ResolvedLayer& layer : program.layers) {
    Layer made;
    made.index = layer.index;
    made.class_name = layer.class_name;
    made.module = make_module(layer);
    made.activity = read_penalty(layer.config, "activity_regularizer");
    made.extents.resize(layer.weights.size());
    for (const Weight& weight : layer.weights) {
      made.trainable.push_back(weight.trainable && flag_or(layer.config, "trainable", true));
    }
    layers_.push_back(std::move(made));
  }
  place(true);
  trainable_size_ = end;
  place(false);

  weights_ = at::zeros(static_cast<std::int64_t>(end));
  gradients_ = at::zeros(static_cast<std::int64_t>(trainable_size_));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const ResolvedLayer& resolved = program.layers[i];
    for (std::size_t k = 0; k < layer.extents.size(); ++k) {
      const Weight& weight = resolved.weights[k];
      const Extent& extent = layer.extents[k];
      initialize(resolved.config.at(weight.initializer), weight.shape,
                 {key, Stream::kInit, static_cast<std::uint32_t>(layer.index),
                  static_cast<std::uint32_t>(k)},
                 extent.of(floats(weights_)));
      at::Tensor tensor = view_of(weights_, extent, weight.shape);
      if (layer.trainable[k]) {
        tensor.set_requires_grad(true);
        tensor.mutable_grad() = view_of(gradients_, extent, weight.shape);
      }
      layer.weights.push_back(std::move(tensor));
      const Penalty penalty = read_penalty(resolved.config, weight.name + "_regularizer");
      if (penalty.l1 != 0 || penalty.l2 != 0) penalties_.emplace_back(extent, penalty);
    }
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

Model::Result Model::forward(const at::Tensor& x, const Pass& pass,
                             std::vector<at::Tensor>* activations) {
  Result result{x, {}};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    result.raw = layer.module->forward(result.raw, layer.weights, pass);
    const bool last = i + 1 >= output_layer_;
    if (layer.activity.l1 != 0 || layer.activity.l2 != 0) {
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
  }
  return result;
}

double Model::penalty() {
  double sum = 0;
  for (const auto& [extent, penalty] : penalties_) {
    for (const float w : extent.of(weights())) {
      sum += penalty.l1 * std::abs(static_cast<double>(w)) +
             penalty.l2 * static_cast<double>(w) * static_cast<double>(w);
    }
  }
  return sum;
}

void Model::add_penalty_gradients() {
  for (const auto& [extent, penalty] : penalties_) {
    if (extent.begin >= trainable_size_) continue;
    const std::span<float> w = extent.of(weights()), g = extent.of(gradients());
    for (std::size_t i = 0; i < w.size(); ++i) {
      // TensorFlow's sign of NaN is NaN.
      const float sign = w[i] > 0 ? 1.0f : w[i] < 0 ? -1.0f : w[i];
      g[i] += penalty.l1 * sign + 2 * penalty.l2 * w[i];
    }
  }
}

bool Model::all_nan() {
  for (const Extent& extent : trainable_variables_) {
    for (const float w : extent.of(weights())) {
      if (!std::isnan(w)) return false;
    }
  }
  return !trainable_variables_.empty();
}

bool Model::all_finite() {
  const std::span<float> all = weights();
  return std::all_of(all.begin(), all.end(), [](float w) { return std::isfinite(w); });
}

std::vector<LayerView> Model::views(const std::vector<at::Tensor>& activations,
                                    bool with_gradients) {
  std::vector<LayerView> views;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerView view;
    view.index = layers_[i].index;
    view.class_name = layers_[i].class_name;
    for (std::size_t k = 0; k < layers_[i].extents.size(); ++k) {
      view.weights.push_back(layers_[i].extents[k].of(weights()));
      if (with_gradients && layers_[i].trainable[k]) {
        view.gradients.push_back(layers_[i].extents[k].of(gradients()));
      }
    }
    if (i < activations.size()) view.activations = floats(activations[i]);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace neutra
