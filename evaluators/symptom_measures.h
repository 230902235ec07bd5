#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluators/monitor_file.h"

/// What the conditions of symptoms are about: numbers of a layer and of a whole training.
namespace neutra::evaluators {

/// Pearson's kurtosis of a normal distribution.
inline constexpr double kNormalKurtosis = 3;

/// A number that each epoch has of each layer.
struct LayerMeasure {
  std::optional<Property> property;  ///< nullopt: the share of dead neurons
  enum class Of { kAggregate, kMaxAbs, kSpan } of{};
  Aggregate aggregate{};
  bool magnitude = false;  ///< of the number
};
/// The measure that a rule calls `word`: "weights.mean", "|biases.max_abs|", "dead"; nullopt: none.
std::optional<LayerMeasure> layer_measure(std::string_view word);
/// Its value in one epoch; `layer`: position in the training's layers. `normal_kurtosis`: that a
/// normal distribution has, 0 or 3.
double value_of(const LayerMeasure& measure, const MonitoredEpoch& epoch, std::size_t layer,
                double normal_kurtosis);

/// A number that a training has.
struct RunMeasure {
  const char* name;
  double (*of)(const MonitoredRun&);  ///< NaN where the training doesn't tell it
  bool same_loss;  ///< can be compared between trainings with the same loss alone
};
/// The measure of this name; nullptr: none.
const RunMeasure* run_measure(std::string_view name);
std::vector<std::string> run_measure_names();

}  // namespace neutra::evaluators
