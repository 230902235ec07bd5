#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fl_adapters/callback_model.h"

/// DeepDiagnosis (Wardat, Cruz, Le and Rajan, ICSE 2022), after the public behaviour of its Keras
/// callback: docs/methods/deepdiagnosis.md has every rule, and what `repaired` fixes.
namespace neutra::fl_adapters::deepdiagnosis {

/// Messages and thresholds: tools/deepdiagnosis.json.
const MessageTable& message_table();

/// What the tool is told before the training.
struct Setting {
  std::string loss;  ///< Keras's name
  double learning_rate = 0;
  std::int64_t epochs = 0;
  float input_min = 0, input_max = 0;    ///< over all training rows; NaN where one is
  float target_min = 0, target_max = 0;  ///< likewise
};

/// An array of weights or gradients.
struct Summary {
  Mean mean;
  float mean_abs = 0;
  double norm = 0;      ///< Euclidean
  double variance = 0;  ///< of a sample: over n - 1; NaN for one value
};
/// Of at least one value.
Summary summary(std::span<const float> values);

/// What the tool sees of a layer at the end of an epoch.
struct LayerTrace {
  std::span<const float> outputs;           ///< for the first batch of the training rows
  std::vector<Summary> weights, gradients;  ///< kernel, bias
};

/// What the tool sees at the end of an epoch.
struct EpochTrace {
  std::int64_t epoch = 0;          ///< from 0
  std::vector<LayerTrace> layers;  ///< those of the model
  std::optional<double> loss, accuracy;
};

/// The rules, over the epochs of a training in their order.
class Checker {
 public:
  /// Before the first epoch.
  Checker(CallbackModel model, Setting setting);
  /// At most one problem, with at most one suggestion after it: the tool stops with it.
  Finding check(const EpochTrace& epoch);

 private:
  /// A value over the epochs since the last look back.
  using Window = std::vector<float>;
  enum class Place { kForward, kWeights, kGradients };

  Finding forward();
  Finding metrics();
  Finding gradients();
  Finding problem(const char* code, std::optional<std::size_t> layer, std::string detail,
                  ToolMessage suggestion) const;

  bool out_of_range(std::span<const float> outputs, std::string& failure) const;
  std::string saturation(std::size_t layer) const;
  bool unchanged(Window& window) const;

  // Suggestions, by problem. One without a code: none.
  ToolMessage suggest(const char* code, std::optional<std::size_t> layer = {}) const;
  ToolMessage for_range() const;
  ToolMessage for_numerical_error(Place place, std::size_t layer) const;
  ToolMessage for_unchanged() const;
  ToolMessage for_activation(std::size_t layer) const;
  ToolMessage for_vanishing(std::size_t layer) const;
  ToolMessage for_invalid_metric() const;
  ToolMessage for_stagnation() const;
  bool has_poor_weights() const;
  bool has_odd_learning_rate() const;
  bool has_odd_input() const;

  const std::string& kind(std::size_t layer) const;
  double limit(const char* name) const { return message_table().threshold(name); }

  CallbackModel model_;
  Setting setting_;
  const EpochTrace* epoch_ = nullptr;  ///< the one looked at
  std::int64_t epochs_ = 0;            ///< with it
  std::vector<Window> forward_, delta_weights_, weights_;
  std::vector<double> losses_, accuracies_;
};

}  // namespace neutra::fl_adapters::deepdiagnosis
