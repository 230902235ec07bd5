#include "evaluators/symptom_measures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace neutra::evaluators {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kDead = "dead";

double max_abs(const Aggregates& values) {
  if (values[Aggregate::kNonfinite] > 0) return kInfinity;
  return std::max(std::abs(values[Aggregate::kMax]), std::abs(values[Aggregate::kMin]));
}

std::vector<double> log_of(const MonitoredRun& run, const std::string& name) {
  std::vector<double> values;
  for (const MonitoredEpoch& epoch : run.epochs) {
    const auto it = epoch.logs.find(name);
    if (it != epoch.logs.end()) values.push_back(it->second);
  }
  return values;
}

/// Mean magnitude of the last layer's gradients over that of the first layer's: its median over the
/// epochs. NaN with fewer than two layers.
double gradient_drop(const MonitoredRun& run) {
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < run.layers.size(); ++i) {
    if (run.layers[i].counts[static_cast<std::size_t>(Property::kGradients)] > 0) {
      layers.push_back(i);
    }
  }
  if (layers.size() < 2) return kNan;
  std::vector<double> drops;
  for (const MonitoredEpoch& epoch : run.epochs) {
    const auto mean_abs = [&](std::size_t layer) {
      return epoch
          .layers[layer][static_cast<std::size_t>(Property::kGradients)][Aggregate::kMeanAbs];
    };
    drops.push_back(mean_abs(layers.back()) / mean_abs(layers.front()));
  }
  return median(std::move(drops));
}

/// How far the loss falls below that of the first epoch, as a share of it. NaN with fewer than two
/// epochs; minus infinity where the loss is never finite again.
double improvement(const MonitoredRun& run) {
  const std::vector<double> losses = log_of(run, "loss");
  if (losses.size() < 2) return kNan;
  double lowest = kInfinity;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) lowest = std::min(lowest, losses[i]);
  }
  if (!std::isfinite(losses.front()) || !std::isfinite(lowest)) return -kInfinity;
  return (losses.front() - lowest) / std::abs(losses.front());
}

/// Over the epochs; infinite where one isn't finite.
double mean_log(const MonitoredRun& run, const std::string& name) {
  const std::vector<double> values = log_of(run, name);
  if (values.empty()) return kNan;
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? value : kInfinity;
  return sum / static_cast<double>(values.size());
}

/// Validation loss less training loss at the end, as a share of the first epoch's training loss.
double overfit_gap(const MonitoredRun& run) {
  const std::vector<double> losses = log_of(run, "loss"), validation = log_of(run, "val_loss");
  if (losses.empty() || validation.empty()) return kNan;
  return (validation.back() - losses.back()) / std::abs(losses.front());
}

constexpr std::array<RunMeasure, 5> kRunMeasures{
    {{"gradient_drop", gradient_drop, false},
     {"improvement", improvement, false},
     {"mean_loss", [](const MonitoredRun& run) { return mean_log(run, "loss"); }, true},
     {"mean_val_loss", [](const MonitoredRun& run) { return mean_log(run, "val_loss"); }, true},
     {"overfit_gap", overfit_gap, false}}};

}  // namespace

std::optional<LayerMeasure> layer_measure(std::string_view word) {
  LayerMeasure measure;
  if (word.size() > 2 && word.front() == '|' && word.back() == '|') {
    measure.magnitude = true;
    word = word.substr(1, word.size() - 2);
  }
  if (word == kDead) return measure;
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (const Property property : {Property::kGradients, Property::kWeights, Property::kBiases}) {
    if (word.substr(0, dot) == to_string(property)) measure.property = property;
  }
  if (!measure.property) return std::nullopt;
  const std::string_view name = word.substr(dot + 1);
  if (name == "max_abs") {
    measure.of = LayerMeasure::Of::kMaxAbs;
  } else if (name == "span") {
    measure.of = LayerMeasure::Of::kSpan;
  } else if (const auto aggregate = parse_aggregate(name)) {
    measure.aggregate = *aggregate;
  } else {
    return std::nullopt;
  }
  return measure;
}

double value_of(const LayerMeasure& measure, const MonitoredEpoch& epoch, std::size_t layer,
                double normal_kurtosis) {
  double value = epoch.dead[layer];
  if (measure.property) {
    const Aggregates& values = epoch.layers[layer][static_cast<std::size_t>(*measure.property)];
    switch (measure.of) {
      case LayerMeasure::Of::kMaxAbs:
        value = max_abs(values);
        break;
      case LayerMeasure::Of::kSpan:
        value = max_abs(values) / values[Aggregate::kMinAbs];
        break;
      case LayerMeasure::Of::kAggregate:
        value = values[measure.aggregate];
        if (measure.aggregate == Aggregate::kKurt) value -= kNormalKurtosis - normal_kurtosis;
        break;
    }
  }
  return measure.magnitude ? std::abs(value) : value;
}

const RunMeasure* run_measure(std::string_view name) {
  const auto it = std::find_if(kRunMeasures.begin(), kRunMeasures.end(),
                               [&](const RunMeasure& measure) { return measure.name == name; });
  return it == kRunMeasures.end() ? nullptr : &*it;
}

std::vector<std::string> run_measure_names() {
  std::vector<std::string> names;
  for (const RunMeasure& measure : kRunMeasures) names.emplace_back(measure.name);
  return names;
}

}  // namespace neutra::evaluators
