#include "training/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "program/graph.h"
#include "program/layer.h"
#include "program/shapes.h"
#include "training/initializers.h"

namespace neutra::training {
namespace {

/// The variable's own: "recurrent_regularizer" beside "recurrent_initializer".
Regularizer own_regularizer(const Json& config, const program::Weight& weight) {
  std::string field = weight.initializer;
  field.replace(field.rfind("initializer"), std::string::npos, "regularizer");
  return regularizer(program::variable_settings(config, weight), field);
}

/// The initial values of a layer's variable `k`. With unit_forget_bias an LSTM draws its bias in
/// two parts, those of the first gate and of the last two, and starts with ones between.
void draw(const program::ResolvedLayer& layer, std::size_t k, const RandomStream& stream,
          std::span<float> values) {
  const program::Weight& weight = layer.weights[k];
  const Json& settings = program::variable_settings(layer.config, weight);
  const Json initializer = program::drawn_initializer(layer, weight);
  if (weight.initializer != "bias_initializer" || !flag_or(settings, "unit_forget_bias", false)) {
    return initialize(initializer, weight.shape, stream, values);
  }
  const std::size_t units = values.size() / 4;
  RandomStream second = stream;
  second.key = derived_key(stream);
  const auto extent = [](std::span<float> part) { return static_cast<std::int64_t>(part.size()); };
  const std::span<float> first = values.first(units), last = values.last(2 * units);
  initialize(initializer, {extent(first)}, stream, first);
  std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(units), units, 1.0f);
  initialize(initializer, {extent(last)}, second, last);
}

}  // namespace

std::vector<bool> reached_layers(const program::ResolvedProgram& program, bool regularizers) {
  std::vector<bool> reached(program.layers.size(), false);
  const auto consumers = program::consumers_of(program.layers);
  for (std::size_t i = program.layers.size(); i-- > 0;) {
    if (regularizers && regularizer(program.layers[i].config, "activity_regularizer").active()) {
      reached[i] = true;
    } else if (program.loop.detached != i) {
      // In a list of layers the last one alone has none behind it.
      reached[i] = i + 1 == program.layers.size() ||
                   std::any_of(consumers[i].begin(), consumers[i].end(), [&](std::size_t next) {
                     return reached[next] && program::kind_of(program.layers[next]) !=
                                                 program::LayerKind::kEmbedding;
                   });
    }
  }
  return reached;
}

namespace {

/// Does a gradient come to any call of the layer?
bool is_reached(const program::ResolvedProgram& program, const std::vector<bool>& reached,
                std::size_t position) {
  const std::vector<std::size_t> calls =
      program::calls_of(program::wiring_of(program.layers), position);
  return std::any_of(calls.begin(), calls.end(), [&](std::size_t call) { return reached[call]; });
}

/// Does the loss or a regulariser give the variable a gradient? `reached`: is_reached().
bool has_gradient(const program::ResolvedLayer& layer, bool reached,
                  const program::Weight& weight) {
  const Json& config = layer.config;
  return weight.trainable && flag_or(config, "trainable", true) &&
         flag_or(program::variable_settings(config, weight), "trainable", true) &&
         (reached || own_regularizer(config, weight).active());
}

}  // namespace

bool has_gradient(const program::ResolvedProgram& program, std::size_t position,
                  const program::Weight& weight) {
  position = program.layers[position].weights_of.value_or(position);
  return has_gradient(program.layers[position],
                      is_reached(program, reached_layers(program, true), position), weight);
}

Weights::Weights(const program::ResolvedProgram& program, RandomKey key)
    : layers_(program.layers.size()) {
  const std::vector<std::size_t>& left_out = program.loop.left_out;
  const std::vector<bool> reached = reached_layers(program, true);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    if (layer.weights_of) continue;
    const bool comes = is_reached(program, reached, i);
    for (const program::Weight& weight : layer.weights) {
      Variable variable{{}, weight.shape};
      variable.reached = comes;
      variable.trainable = has_gradient(layer, comes, weight);
      variable.updated =
          variable.trainable && std::find(left_out.begin(), left_out.end(), i) == left_out.end();
      layers_[i].push_back(std::move(variable));
    }
  }
  std::size_t end = 0;
  const auto place = [&](bool trainable, bool updated) {
    for (std::vector<Variable>& variables : layers_) {
      for (Variable& variable : variables) {
        if (variable.trainable != trainable || variable.updated != updated) continue;
        variable.extent = {end, static_cast<std::size_t>(program::element_count(variable.shape))};
        if (updated) updated_variables_.push_back(variable.extent);
        end += whole_lines(variable.extent.size);
      }
    }
  };
  place(true, true);
  updated_size_ = end;
  place(true, false);
  gradients_ = Buffer(end);
  place(false, false);
  weights_ = Buffer(end);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    if (layer.weights_of) layers_[i] = layers_[*layer.weights_of];
    for (std::size_t k = 0; !layer.weights_of && k < layers_[i].size(); ++k) {
      draw(layer, k,
           {key, Stream::kInit, static_cast<std::uint32_t>(layer.index),
            static_cast<std::uint32_t>(k)},
           layers_[i][k].extent.of(all()));
      const Regularizer penalty = own_regularizer(layer.config, layer.weights[k]);
      if (penalty.active()) penalties_.push_back({layers_[i][k], penalty});
    }
  }
}

program::ModelWeights Weights::by_layer() {
  program::ModelWeights copy;
  for (const std::vector<Variable>& variables : layers_) {
    auto& layer = copy.emplace_back();
    for (const Variable& variable : variables) {
      const std::span<float> values = variable.extent.of(all());
      layer.emplace_back(values.begin(), values.end());
    }
  }
  return copy;
}

void Weights::assign(const program::ModelWeights& weights, std::size_t first,
                     std::span<const std::size_t> origin) {
  assert((origin.empty() ? weights.size() : origin.size()) == layers_.size() + first);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& from = weights[origin.empty() ? i + first : origin[i + first]];
    assert(from.size() == layers_[i].size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      assert(from[k].size() == layers_[i][k].extent.size);
      std::copy(from[k].begin(), from[k].end(), layers_[i][k].extent.of(all()).begin());
    }
  }
}

double Weights::penalty() {
  double sum = 0;
  for (const auto& [variable, penalty] : penalties_) {
    for (const float w : variable.extent.of(all())) {
      sum += penalty.l1 * std::abs(static_cast<double>(w)) +
             penalty.l2 * static_cast<double>(w) * static_cast<double>(w);
    }
  }
  return sum;
}

void Weights::add_penalty_gradients() {
  for (const auto& [variable, penalty] : penalties_) {
    if (!variable.trainable) continue;
    const std::span<float> w = variable.extent.of(all()), g = variable.extent.of(gradients());
    if (!variable.reached) std::fill(g.begin(), g.end(), 0.0f);
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
  return !updated_variables_.empty();
}

bool Weights::all_finite() {
  const std::span<float> values = all();
  return std::all_of(values.begin(), values.end(), [](float w) { return std::isfinite(w); });
}

}  // namespace neutra::training
