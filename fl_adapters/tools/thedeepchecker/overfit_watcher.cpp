#include "fl_adapters/tools/thedeepchecker/overfit_watcher.h"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "program/layer.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

void keep(std::vector<float>& copy, std::span<const float> values) {
  copy.assign(values.begin(), values.end());
}

/// Norm of the regulariser's gradient over that of the rest.
double regularization_ratio(const Part& part, const std::vector<float>& kernel,
                            std::span<const float> gradient) {
  double own = 0, rest = 0;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const double w = kernel[i];
    const double slope = part.l1 * ((w > 0) - (w < 0)) + 2 * part.l2 * w;
    own += slope * slope;
    rest += (gradient[i] - slope) * (gradient[i] - slope);
  }
  return std::sqrt(own) / (std::sqrt(rest) + std::numeric_limits<float>::min());
}

}  // namespace

void OverfitWatcher::begin(const training::DataView& data, training::Probe& probe) {
  model_.emplace(program_, data.row);
  const std::vector<std::int64_t> any{0};
  const training::Probe::Answer& answer = probe.forward(any);
  for (std::size_t i = 0; i < model_->parts.size(); ++i) {
    const Part& part = model_->parts[i];
    checks_.push_back({WeightCheck(part.kernel(), false, variant_),
                       WeightCheck(part.bias(), true, variant_),
                       GradientCheck(part.kernel()),
                       RegularizationCheck(part.kernel()),
                       ActivationCheck(part.output(), model_->taken_for(part, variant_)),
                       {}});
    if (part.has_kernel) keep(checks_.back().kernel, answer.layers[i].weights[0]);
  }
  const std::size_t target = static_cast<std::size_t>(program::element_count(data.target));
  Place place = model_->parts.back().output();
  outputs_.emplace(
      place, targets_of(data.training_targets, target, model_->classification, model_->sparse));
  outputs_width_ = answer.outputs.size();
}

void OverfitWatcher::batch_end(const training::BatchEvent& event) {
  const std::int64_t iteration = event.step;
  Messages found;
  for_kernels(event, [&](std::size_t i, const training::LayerView& layer) {
    checks_[i].weight.see(iteration, layer.weights[0], found);
  });
  for_kernels(event, [&](std::size_t i, const training::LayerView& layer) {
    const Part& part = model_->parts[i];
    if (part.has_bias) {
      checks_[i].bias.see(iteration, layer.weights[part.bias_variable], found);
    }
  });
  outputs_->see(iteration, event.layers.back().activations, outputs_width_, found);
  for (std::size_t i = 0; i < model_->parts.size(); ++i) {
    const Part& part = model_->parts[i];
    if (part.activation.empty()) continue;
    checks_[i].activation.see(iteration, event.layers[i].activations, part.neurons, found);
  }
  for_kernels(event, [&](std::size_t i, const training::LayerView& layer) {
    if (layer.gradients.empty()) return;  // frozen
    checks_[i].gradient.see(iteration, checks_[i].kernel, layer.weights[0], layer.gradients[0],
                            found);
  });
  for_kernels(event, [&](std::size_t i, const training::LayerView& layer) {
    const Part& part = model_->parts[i];
    if (!layer.gradients.empty() && (part.l1 > 0 || part.l2 > 0)) {
      checks_[i].regularization.see(
          iteration, regularization_ratio(part, checks_[i].kernel, layer.gradients[0]), found);
    }
    keep(checks_[i].kernel, layer.weights[0]);
  });
  const auto it = event.logs.find(model_->metric);
  const double performance = it == event.logs.end() ? event.loss : it->second;
  loss_.see(iteration, event.loss, performance, found);
  for (ToolMessage& message : found) message.said = Said::kInIterations;
  record_all(messages_, std::move(found));
  count_down(performance);
}

void OverfitWatcher::count_down(double performance) {
  const bool perfect = model_->classification ? performance == limit("perfect_accuracy")
                                              : performance < limit("perfect_error");
  patience_ = perfect ? patience_ - 1 : static_cast<int>(count_limit("patience"));
}

}  // namespace neutra::fl_adapters::thedeepchecker
