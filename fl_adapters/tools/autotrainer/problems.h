#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fl_adapters/messages.h"

/// AutoTrainer (Zhang et al., ICSE 2021; TDSC 2023), after its public behaviour:
/// docs/methods/autotrainer.md has every rule, and what `repaired` fixes.
namespace neutra::fl_adapters::autotrainer {

/// Messages and thresholds: tools/autotrainer.json.
const MessageTable& message_table();

/// What the tool reads off the model.
struct Model {
  std::string loss;          ///< Keras's name
  std::int64_t outputs = 1;  ///< last extent of the output
  std::string activation;    ///< of the last layer; a layer without one: what it is ("softmax")
  bool regression = false;
  std::int64_t epochs = 1;
  /// To the repaired tool: the task leaves no other than what is there.
  bool loss_settled = false, activation_settled = false;
};
/// Precondition: the program has a layer.
Model model_of(const program::ResolvedProgram& program);

/// Logs of the epochs so far, one value for each.
struct History {
  std::vector<double> loss, accuracy, validation_loss, validation_accuracy;
};

/// Gradients of the first batch.
struct Gradients {
  double first_norm = 0, last_norm = 0;  ///< of the first and of the last kernel
  double zeros = 0;                      ///< share of zeros among all
  bool finite = true;
};
/// `layers`: those of the model, with the gradients of one batch.
Gradients gradients_of(std::span<const training::LayerView> layers);

/// Outputs of the layers for the first batch.
struct Outputs {
  double largest_sum = 0;        ///< over the rows: sum of the magnitudes of the model's outputs
  std::vector<double> mean_abs;  ///< of each layer but the last
};
/// `rows`: in the batch.
Outputs outputs_of(std::span<const training::LayerView> layers, std::int64_t rows);

/// What the tool has seen. A flag that is set stays set.
struct Features {
  bool improper_loss = false, activation_output = false, abnormal_output = false;
  bool nan_loss = false, abnormal_loss = false, nan_weight = false, nan_gradient = false;
  bool not_converge = false, slow_accuracy = false, unstable = false;
  int dead_relu = 0, vanishing = 0, exploding = 0;  ///< checks in which they showed
};
/// Sets the flags that follow from the model alone.
void see_model(Features& features, const Model& model, ToolVariant variant);
/// Sets the flags that follow from the outputs for one batch.
void see_outputs(Features& features, const Outputs& outputs);
/// Counts a check, or sets the flag for gradients that are no numbers.
void see_gradients(Features& features, const Gradients& gradients);
/// Sets the flags that follow from losses and accuracies so far.
void see_history(Features& features, const History& history, const Model& model,
                 ToolVariant variant);
/// Do the peaks of the accuracy lie above its troughs often enough?
bool oscillates(std::span<const double> accuracy);

/// Problems in the order in which the tool looks for them.
std::vector<std::string> judge(const Features& features);
/// The one that the tool repairs; "" for none. Among equals the first (the published tool takes
/// any).
std::string most_urgent(const std::vector<std::string>& problems);

/// The tool during a training.
class Monitor {
 public:
  /// Before the first epoch.
  Monitor(const Model& model, ToolVariant variant);
  /// Is the end of this epoch looked at?
  bool checks(std::int64_t epoch) const;
  /// Does that check look at the layers' outputs? Only then it may find a problem.
  bool looks_at_outputs(std::int64_t epoch) const;
  /// A check. `outputs`: null unless looks_at_outputs(). The problem that was found, or "".
  std::string check(std::int64_t epoch, const History& history, const Gradients& gradients,
                    bool weights_finite, const Outputs* outputs);
  /// What it has seen so far.
  const Features& features() const { return features_; }

 private:
  Model model_;
  ToolVariant variant_;
  Features features_;
  bool midway_ = true;
};

}  // namespace neutra::fl_adapters::autotrainer
