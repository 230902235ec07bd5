#include "training/monitor.h"

#include <algorithm>
#include <cmath>

#include "program/layer_titles.h"
#include "training/weights.h"

namespace neutra::training {
namespace {

std::optional<evaluators::Property> property_of(const program::Weight& weight) {
  if (weight.name.starts_with("moving_")) return std::nullopt;
  return weight.name == "bias" || weight.name == "beta" ? evaluators::Property::kBiases
                                                        : evaluators::Property::kWeights;
}

std::size_t at(evaluators::Property property) { return static_cast<std::size_t>(property); }

}  // namespace

TrainingMonitor::TrainingMonitor(const program::ResolvedProgram& program, double close_to_zero)
    : close_to_zero_(close_to_zero) {
  run_.loss = program.loss;
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& resolved = program.layers[i];
    if (resolved.weights_of) continue;  // the same weights
    Layer layer;
    layer.position = i;
    evaluators::MonitoredLayer monitored{resolved.index, resolved.class_name, {}};
    for (const program::Weight& weight : resolved.weights) {
      const std::optional<evaluators::Property> property = property_of(weight);
      layer.properties.push_back(property);
      std::int64_t count = 1;
      for (const std::int64_t extent : weight.shape) count *= extent;
      if (property) monitored.counts[at(*property)] += count;
      if (!has_gradient(program, i, weight)) continue;
      monitored.counts[at(evaluators::Property::kGradients)] += count;
      const auto last = weight.shape.empty() ? 1 : static_cast<std::size_t>(weight.shape.back());
      if (layer.by_neuron.empty()) layer.neurons = last;
      layer.by_neuron.push_back(last == layer.neurons);
    }
    if (resolved.weights.empty()) continue;
    layers_.push_back(std::move(layer));
    run_.layers.push_back(std::move(monitored));
  }
}

void TrainingMonitor::begin(const DataView& data, Probe& probe) {
  CurveRecorder::begin(data, probe);
  std::int64_t width = 1;
  for (const std::int64_t extent : data.row) width *= extent;
  const std::int64_t rows = static_cast<std::int64_t>(data.training.size()) / width;
  steps_per_epoch_ = (rows + data.batch_size - 1) / data.batch_size;
  // A last batch of few rows would say little.
  watched_step_ = std::max<std::int64_t>(rows / data.batch_size, 1) - 1;
}

BatchDetail TrainingMonitor::batch_detail(std::int64_t, std::int64_t step) const {
  return step % steps_per_epoch_ == watched_step_ ? BatchDetail::kWeights : BatchDetail::kNone;
}

evaluators::Aggregates TrainingMonitor::aggregates_of(
    const std::vector<std::span<const float>>& parts) {
  values_.clear();
  for (const std::span<const float> part : parts) {
    values_.insert(values_.end(), part.begin(), part.end());
  }
  return evaluators::aggregates(values_, close_to_zero_);
}

double TrainingMonitor::dead_neurons(const Layer& layer, const LayerView& view, double largest) {
  if (view.gradients.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto bound = static_cast<float>(close_to_zero_ * largest);
  alive_.assign(layer.neurons, 0);
  for (std::size_t i = 0; i < view.gradients.size(); ++i) {
    if (!layer.by_neuron[i]) continue;
    const std::span<const float> gradients = view.gradients[i];
    for (std::size_t begin = 0; begin < gradients.size(); begin += layer.neurons) {
      for (std::size_t j = 0; j < layer.neurons; ++j) {
        // A NaN is no standstill.
        alive_[j] |= !(std::abs(gradients[begin + j]) <= bound);
      }
    }
  }
  const auto dead = std::count(alive_.begin(), alive_.end(), char{0});
  return static_cast<double>(dead) / static_cast<double>(layer.neurons);
}

void TrainingMonitor::batch_end(const BatchEvent& event) {
  next_.layers.resize(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerView& view = event.layers[layers_[i].position];
    const evaluators::Aggregates gradients = aggregates_of(view.gradients);
    const double largest = std::fmax(std::abs(gradients[evaluators::Aggregate::kMin]),
                                     std::abs(gradients[evaluators::Aggregate::kMax]));
    next_.layers[i][at(evaluators::Property::kGradients)] = gradients;
    next_.dead.push_back(dead_neurons(layers_[i], view, std::isnan(largest) ? 0 : largest));
  }
}

void TrainingMonitor::epoch_end(const EpochEvent& event) {
  CurveRecorder::epoch_end(event);
  next_.logs = event.logs;
  next_.layers.resize(layers_.size());
  next_.dead.resize(layers_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerView& view = event.layers[layers_[i].position];
    for (const evaluators::Property property :
         {evaluators::Property::kWeights, evaluators::Property::kBiases}) {
      std::vector<std::span<const float>> parts;
      for (std::size_t v = 0; v < view.weights.size(); ++v) {
        if (layers_[i].properties[v] == property) parts.push_back(view.weights[v]);
      }
      next_.layers[i][at(property)] = aggregates_of(parts);
    }
  }
  run_.epochs.push_back(std::exchange(next_, {}));
}

evaluators::MonitoredRun TrainingMonitor::run(const TrainingJob& job,
                                              const ReplicaResult& result) const {
  evaluators::MonitoredRun run = run_;
  const std::vector<std::string> names = program::LayerTitles(job.program->document).names();
  for (evaluators::MonitoredLayer& layer : run.layers) {
    layer.name = names[static_cast<std::size_t>(layer.index)];
  }
  run.replica = job.replica;
  run.status = to_string(result.status);
  run.message = result.message;
  run.metric = result.metric;
  return run;
}

}  // namespace neutra::training
