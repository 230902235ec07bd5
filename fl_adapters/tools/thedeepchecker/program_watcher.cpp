#include "fl_adapters/tools/thedeepchecker/program_watcher.h"

#include <algorithm>

#include "fl_adapters/tools/thedeepchecker/initial_checks.h"
#include "fl_adapters/tools/thedeepchecker/mode_checks.h"
#include "program/layer.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

/// The debiased measure of similarity needs more than 3.
constexpr std::size_t kLeastRows = 4;

/// As many rows of each class: the first ones.
std::vector<std::int64_t> rows_of_all_classes(std::span<const float> values, std::size_t width,
                                              std::size_t classes, std::int64_t most) {
  const std::int64_t each = std::max<std::int64_t>(1, most / static_cast<std::int64_t>(classes));
  std::vector<std::int64_t> taken(classes), rows;
  for (std::size_t row = 0; row * width < values.size(); ++row) {
    const std::span<const float> target = values.subspan(row * width, width);
    const std::size_t label =
        width == 1 ? label_class(target[0])
                   : static_cast<std::size_t>(std::max_element(target.begin(), target.end()) -
                                              target.begin());
    if (label >= classes || taken[label] >= each) continue;
    if (static_cast<std::int64_t>(rows.size()) == most) break;
    ++taken[label];
    rows.push_back(static_cast<std::int64_t>(row));
  }
  return rows.empty() ? std::vector<std::int64_t>{0} : rows;
}

}  // namespace

void ProgramWatcher::begin(const training::DataView& data, training::Probe& probe) {
  model_.emplace(program_, data.row);
  const auto row = static_cast<std::size_t>(program::element_count(data.row));
  const auto target = static_cast<std::size_t>(program::element_count(data.target));
  const std::size_t rows = std::min(data.training.size() / row, count_limit("sample_rows"));
  const std::span<const float> features = data.training.first(rows * row);
  // Users tell the tool whether all features are of one kind; those of an image are.
  const bool image = data.row.size() > 1;
  add(check_features(columns_of(features, image ? 1 : row), variant_));
  const std::span<const float> values = data.training_targets.first(rows * target);
  const Targets targets = targets_of(values, target, model_->classification, model_->sparse);
  add(check_targets(targets, variant_));
  check_weights(probe, targets);
  check_loss(probe, targets, values, target);
  // Spread over all rows, which may be sorted by class.
  const auto all = static_cast<std::int64_t>(data.training.size() / row);
  compared_.resize(static_cast<std::size_t>(
      std::min({probe.max_rows(), all, static_cast<std::int64_t>(count_limit("compared_rows"))})));
  for (std::size_t i = 0; i < compared_.size(); ++i) {
    compared_[i] = static_cast<std::int64_t>(i) * all / static_cast<std::int64_t>(compared_.size());
  }
}

void ProgramWatcher::epoch_end(const training::EpochEvent& event) {
  if (!model_->has_modes || compared_.size() < kLeastRows) return;
  const auto copy_of = [&](const training::Probe::Answer& answer) {
    std::vector<std::vector<float>> outputs;
    for (const training::LayerView& layer : answer.layers) {
      outputs.emplace_back(layer.activations.begin(), layer.activations.end());
    }
    return outputs;
  };
  const training::Probe::Answer& forward = event.probe->forward(compared_);
  const double inference_loss = forward.loss;
  const auto inference = copy_of(forward);
  const training::Probe::Answer& backward = event.probe->backward(compared_);
  const double train_loss = backward.loss;
  for (std::size_t i = 0; i < model_->parts.size(); ++i) {
    const Part& part = model_->parts[i];
    const bool last = i + 1 == model_->parts.size();
    if (part.activation.empty() && !last) continue;
    add(check_modes(part.output(), last, model_->dropouts, backward.layers[i].activations,
                    inference[i], compared_.size(), event.epoch, variant_));
  }
  add(check_mode_losses(model_->dropouts, train_loss, inference_loss, event.epoch));
}

void ProgramWatcher::check_weights(training::Probe& probe, const Targets& targets) {
  const std::vector<std::int64_t> any{0};
  const training::Probe::Answer& answer = probe.forward(any);
  std::vector<Bias> biases;
  for (std::size_t i = 0; i < model_->parts.size(); ++i) {
    const Part& part = model_->parts[i];
    const auto& weights = answer.layers[i].weights;
    if (!part.has_kernel) continue;
    const Kernel kernel{part.kernel(), part.fan_in, part.fan_out,
                        model_->taken_for(part, variant_)};
    add(check_initial_kernel(kernel, weights[0], variant_));
    if (!part.has_bias) continue;
    const std::span<const float> bias = weights[part.bias_variable];
    biases.push_back({part.bias(), {bias.begin(), bias.end()}});
  }
  add(check_initial_biases(biases, targets));
}

void ProgramWatcher::check_loss(training::Probe& probe, const Targets& targets,
                                std::span<const float> values, std::size_t width) {
  const auto growth = static_cast<std::int64_t>(count_limit("initial_loss_growth"));
  std::int64_t most = growth;
  while (most * growth <= growth * static_cast<std::int64_t>(count_limit("initial_loss_growths"))) {
    most *= growth;
  }
  const std::int64_t wanted = static_cast<std::int64_t>(count_limit("initial_loss_rows"));
  if (const std::int64_t once = std::min(wanted, probe.max_rows() / most); once > 0) {
    std::vector<double> losses;
    for (std::int64_t times = growth; times <= most; times *= growth) {
      std::vector<std::int64_t> rows(static_cast<std::size_t>(once * times));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = static_cast<std::int64_t>(i) % once;
      }
      losses.push_back(probe.forward(rows).loss);
    }
    add(check_reduction(losses));
  }
  if (!targets.classification) return;
  const std::vector<std::int64_t> rows =
      rows_of_all_classes(values, width, targets.shares.size(), std::min(wanted, probe.max_rows()));
  add(check_initial_loss(probe.backward(rows).loss, targets));
}

}  // namespace neutra::fl_adapters::thedeepchecker
