#include "training/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "program/layer.h"
#include "training/initializers.h"

namespace neutra {
Weights::Weights(const ResolvedProgram& program, RandomKey key) : layers_(program.layers.size()) {
  std::size_t end = 0;
  for (const bool trainable : {true, false}) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const ResolvedLayer& layer = program.layers[i];
      layers_[i].resize(layer.weights.size());
      for (std::size_t k = 0; k < layers_[i].size(); ++k) {
        const Weight& weight = layer.weights[k];
        if ((weight.trainable && flag_or(layer.config, "trainable", true)) != trainable) continue;
        const Extent extent{end, static_cast<std::size_t>(element_count(weight.shape))};
        layers_[i][k] = {extent, weight.shape, trainable};
        if (trainable) trainable_variables_.push_back(extent);
        end += whole_lines(extent.size);
      }
    }
    if (trainable) trainable_size_ = end;
  }
  weights_ = Buffer(end);
  gradients_ = Buffer(trainable_size_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const ResolvedLayer& layer = program.layers[i];
    for (std::size_t k = 0; k < layers_[i].size(); ++k) {
      const Weight& weight = layer.weights[k];
      const Extent& extent = layers_[i][k].extent;
      initialize(layer.config.at(weight.initializer), weight.shape,
                 {key, Stream::kInit, static_cast<std::uint32_t>(layer.index),
                  static_cast<std::uint32_t>(k)},
                 extent.of(all()));
      const Regularizer penalty = regularizer(layer.config, weight.name + "_regularizer");
      if (penalty.active()) penalties_.emplace_back(extent, penalty);
    }
  }
}

ModelWeights Weights::by_layer() {
  ModelWeights copy;
  for (const std::vector<Variable>& variables : layers_) {
    auto& layer = copy.emplace_back();
    for (const Variable& variable : variables) {
      const std::span<float> values = variable.extent.of(all());
      layer.emplace_back(values.begin(), values.end());
    }
  }
  return copy;
}

void Weights::assign(const ModelWeights& weights, std::size_t first) {
  assert(weights.size() == layers_.size() + first);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& from = weights[i + first];
    assert(from.size() == layers_[i].size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      assert(from[k].size() == layers_[i][k].extent.size);
      std::copy(from[k].begin(), from[k].end(), layers_[i][k].extent.of(all()).begin());
    }
  }
}

double Weights::penalty() {
  double sum = 0;
  for (const auto& [extent, penalty] : penalties_) {
    for (const float w : extent.of(all())) {
      sum += penalty.l1 * std::abs(static_cast<double>(w)) +
             penalty.l2 * static_cast<double>(w) * static_cast<double>(w);
    }
  }
  return sum;
}

void Weights::add_penalty_gradients() {
  for (const auto& [extent, penalty] : penalties_) {
    if (extent.begin >= trainable_size_) continue;
    const std::span<float> w = extent.of(all()), g = extent.of(gradients());
    for (std::size_t i = 0; i < w.size(); ++i) {
      // TensorFlow's sign of NaN is NaN.
      const float sign = w[i] > 0 ? 1.0f : w[i] < 0 ? -1.0f : w[i];
      g[i] += penalty.l1 * sign + 2 * penalty.l2 * w[i];
    }
  }
}

bool Weights::all_nan() {
  for (const std::vector<Variable>& variables : layers_) {
    for (const Variable& variable : variables) {
      for (const float w : variable.extent.of(all())) {
        if (!std::isnan(w)) return false;
      }
    }
  }
  return !trainable_variables_.empty();
}

bool Weights::all_finite() {
  const std::span<float> values = all();
  return std::all_of(values.begin(), values.end(), [](float w) { return std::isfinite(w); });
}

}  // namespace neutra
