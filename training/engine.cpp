#include "training/engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/class_weights.h"
#include "program/layer.h"
#include "training/optimizers/registry.h"

namespace neutra::training {

namespace {

/// The variables that the optimiser updates, without those of `names`: "bias", or "2/bias" of one
/// layer.
std::vector<Extent> variables_without(const program::ResolvedProgram& program,
                                      const Weights& weights, const Json& names) {
  const auto is_named = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), Json(name)) != names.end();
  };
  std::vector<Extent> others;
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    if (layer.weights_of) continue;
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      const std::string& name = layer.weights[k].name;
      const Weights::Variable& variable = weights.of_layer(i)[k];
      if (!variable.updated || is_named(name)) continue;
      if (is_named(std::to_string(layer.index) + "/" + name)) continue;
      others.push_back(variable.extent);
    }
  }
  return others;
}

}  // namespace

Engine::Engine(const program::ResolvedProgram& program, const Rows& training, RandomKey key)
    : program_(program),
      training_(training),
      key_(key),
      weights_(program, key),
      optimizer_(make_optimizer(program.optimizer, weights_.updated_variables())),
      constraints_(program, weights_),
      kept_(adds_gradients(program.loop) ? weights_.gradients().size() : 0) {
  const Json undecayed = program.optimizer.at("config").value("undecayed", Json::array());
  if (!undecayed.empty()) {
    optimizer_->decay_only(variables_without(program, weights_, undecayed));
  }
}

void Engine::begin_epoch(std::int64_t epoch) {
  const std::optional<program::RateSchedule>& schedule = program_.schedule;
  if (schedule && !schedule->every_batch) {
    optimizer_->scale_rate(std::pow(schedule->decay_rate, static_cast<double>(epoch)));
  }
  optimizer_->begin_epoch(epoch);
  if (program_.loop.zero_grad == program::LoopStyle::ZeroGrad::kEachEpoch) {
    std::fill(kept_.floats().begin(), kept_.floats().end(), 0.0f);
  }
}

double Engine::gradients(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) {
  const double penalty = wanted.loss ? weights_.penalty() : 0;
  const double loss = pass(rows, step, wanted);
  weights_.add_penalty_gradients();
  return wanted.loss ? loss + penalty : 0;
}

double Engine::step(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) {
  const double loss = gradients(rows, step, wanted);
  const std::span<float> grad = weights_.gradients(), kept = kept_gradients();
  for (std::size_t i = 0; i < kept.size(); ++i) grad[i] += kept[i];
  if (program_.loop.zero_grad == program::LoopStyle::ZeroGrad::kBeforeStep) {
    std::fill(grad.begin(), grad.end(), 0.0f);
  }
  if (program_.loop.step) {
    if (program_.schedule && program_.schedule->every_batch) {
      optimizer_->scale_rate(std::pow(program_.schedule->decay_rate, static_cast<double>(step)));
    }
    const std::span<float> updated = weights_.updated();
    optimizer_->step(updated, grad.first(updated.size()));
    constraints_.apply(updated);
  }
  std::copy_n(grad.begin(), kept.size(), kept.begin());  // clipped in place
  return loss;
}

void Engine::take_weights(std::span<const std::int64_t> rows, std::span<const float> targets,
                          std::span<float> weights) const {
  std::fill(weights.begin(), weights.end(), 1.0f);
  if (!program_.class_weights.empty()) weigh_rows(program_.class_weights, targets, weights);
  for (std::size_t i = 0; training_.weights != nullptr && i < rows.size(); ++i) {
    weights[i] *= training_.weights->values[static_cast<std::size_t>(training_.begin + rows[i])];
  }
  if (!program::divides_by_weights(program_)) return;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto share = static_cast<float>(static_cast<double>(weights.size()) / sum);
  for (float& weight : weights) weight *= share;
}

void weigh_rows(const std::vector<double>& class_weights, std::span<const float> targets,
                std::span<float> weights) {
  const std::size_t width = targets.size() / weights.size();
  for (std::size_t row = 0; row < weights.size(); ++row) {
    const std::span<const float> own = targets.subspan(row * width, width);
    const double label = width > 1 ? static_cast<double>(argmax(own)) : std::trunc(own[0]);
    if (!(label >= 0 && label < static_cast<double>(class_weights.size()))) {
      throw input_error("class_weight: found the class " + shortest(label) +
                        "; allowed: a weight for each class that the targets name");
    }
    weights[row] = static_cast<float>(class_weights[static_cast<std::size_t>(label)]);
  }
}

bool adds_gradients(const program::LoopStyle& loop) {
  return loop.zero_grad == program::LoopStyle::ZeroGrad::kEachEpoch ||
         loop.zero_grad == program::LoopStyle::ZeroGrad::kNever;
}

program::ResolvedProgram without_initial_values(program::ResolvedProgram program) {
  program.class_weights.clear();
  for (program::ResolvedLayer& layer : program.layers) {
    for (const program::Weight& weight : layer.weights) {
      const Json::json_pointer settings(program::settings_path(layer.config, weight));
      layer.config[settings][weight.initializer] = {{"class_name", "Zeros"},
                                                    {"config", Json::object()}};
    }
  }
  return program;
}

std::int64_t weight_elements(const program::ResolvedProgram& program) {
  std::int64_t sum = 0;
  for (const program::ResolvedLayer& layer : program.layers) {
    if (layer.weights_of) continue;
    for (const program::Weight& weight : layer.weights) sum += program::element_count(weight.shape);
  }
  return sum;
}

std::int64_t kept_elements(const program::ResolvedProgram& program) {
  const int gradients = adds_gradients(program.loop) ? 2 : 1;
  return weight_elements(program) * (1 + gradients + optimizer_states(program.optimizer));
}

namespace {

/// What a transposed convolution makes before it cuts the padding off.
std::int64_t transposed_elements(const program::ResolvedLayer& layer) {
  const program::Shape kernel = layer.config.at("kernel_size").get<program::Shape>();
  std::int64_t whole = layer.output_shape.back();
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t dilation = layer.config.at("dilation_rate")[axis],
                       stride = layer.config.at("strides")[axis];
    whole *= layer.input_shape[axis] * stride + (kernel[axis] - 1) * dilation + 1;
  }
  return whole;
}

/// What a convolution makes of its input: a copy with the cells that padding adds; behind a
/// convolution by channel, its outputs.
std::int64_t convolution_elements(const program::ResolvedLayer& layer) {
  if (program::find_layer(layer.class_name)->transposed_kernel) return transposed_elements(layer);
  const std::string padding = layer.config.at("padding");
  const program::Shape kernel = layer.config.at("kernel_size").get<program::Shape>();
  std::int64_t copy = padding == "valid" ? 0 : layer.input_shape.back();
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t dilation = layer.config.at("dilation_rate")[axis];
    copy *= layer.input_shape[axis] + (padding == "causal" ? (kernel[axis] - 1) * dilation : 1);
  }
  if (!program::find_layer(layer.class_name)->separable) return copy;
  return copy + program::element_count(layer.output_shape) / layer.output_shape.back() *
                    layer.weights[1].shape[2];
}

/// What autograd keeps of each step: products, gates, states, and copies of inputs under masks.
std::int64_t recurrent_elements(const program::ResolvedLayer& layer) {
  constexpr std::int64_t kOfGate = 5;
  const std::int64_t steps = layer.input_shape[0], width = layer.weights[1].shape[1];
  const std::int64_t gates = width / layer.config.at("units").get<std::int64_t>();
  return steps * (kOfGate * width + gates * layer.input_shape[1]);
}

/// Of a layer, with its output.
std::int64_t layer_elements(const program::ResolvedLayer& layer) {
  std::int64_t sum = program::element_count(layer.output_shape);
  const program::Layer& type = *program::find_layer(layer.class_name);
  if (type.kind == program::LayerKind::kConvolution) sum += convolution_elements(layer);
  if (type.kind == program::LayerKind::kRecurrent) sum += recurrent_elements(layer);
  const std::int64_t calls = type.wraps_steps ? layer.input_shape.front() : 1;
  for (const program::ResolvedLayer& wrapped : program::wrapped_layers(layer)) {
    sum += calls * layer_elements(wrapped);
  }
  return sum;
}

}  // namespace

std::int64_t row_elements(const program::ResolvedProgram& program) {
  std::int64_t sum = program::element_count(program.input_shape);
  for (const program::ResolvedLayer& layer : program.layers) sum += layer_elements(layer);
  return sum;
}

}  // namespace neutra::training
