#include "fl_adapters/tools/autotrainer/problems.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace neutra::fl_adapters::autotrainer {
namespace {

double limit(const std::string& name) { return message_table().threshold(name); }

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// Largest rise from one value to the next, 0 if there is none.
double largest_rise(const std::vector<double>& values) {
  double rise = 0;
  for (std::size_t i = 1; i < values.size(); ++i) rise = std::max(rise, values[i] - values[i - 1]);
  return rise;
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("autotrainer");
  return table;
}

Model model_of(const program::ResolvedProgram& program) {
  Model model;
  model.loss = program.loss;
  model.regression = program.task == "regression";
  model.epochs = program.epochs;
  const program::ResolvedLayer& last = program.layers.back();
  model.outputs = last.output_shape.empty() ? 1 : last.output_shape.back();
  const Json* activation = member(last.config, "activation");
  model.activation =
      lower(activation != nullptr ? activation->get<std::string>() : last.class_name);
  return model;
}

Gradients gradients_of(std::span<const training::LayerView> layers) {
  Gradients result;
  bool first = true;
  std::size_t zeros = 0, count = 0;
  for (const training::LayerView& layer : layers) {
    for (std::size_t i = 0; i < layer.gradients.size(); ++i) {
      double squares = 0;
      for (const float value : layer.gradients[i]) {
        squares += static_cast<double>(value) * value;
        zeros += value == 0;
        result.finite = result.finite && std::isfinite(value);
      }
      count += layer.gradients[i].size();
      // Kernels are the variables of more than one extent: a layer's first, where it has one.
      if (i > 0 || layer.class_name == "BatchNormalization") continue;
      result.last_norm = std::sqrt(squares);
      if (std::exchange(first, false)) result.first_norm = result.last_norm;
    }
  }
  if (count > 0) result.zeros = static_cast<double>(zeros) / static_cast<double>(count);
  return result;
}

Outputs outputs_of(std::span<const training::LayerView> layers, std::int64_t rows) {
  Outputs result;
  for (const training::LayerView& layer : layers) {
    if (layer.class_name == "InputLayer") continue;  // none of the model's layers in tf.keras
    double sum = 0;
    for (const float value : layer.activations) sum += std::abs(static_cast<double>(value));
    result.mean_abs.push_back(sum / static_cast<double>(layer.activations.size()));
  }
  result.mean_abs.pop_back();
  const std::span<const float> output = layers.back().activations;
  const std::size_t width = output.size() / static_cast<std::size_t>(rows);
  for (std::size_t row = 0; row < output.size(); row += width) {
    double sum = 0;
    for (const float value : output.subspan(row, width)) {
      sum += std::abs(static_cast<double>(value));
    }
    if (std::isnan(sum)) sum = std::numeric_limits<double>::infinity();
    result.largest_sum = std::max(result.largest_sum, sum);
  }
  return result;
}

void see_model(Features& features, const Model& model, ToolVariant variant) {
  if (variant == ToolVariant::kRepaired && model.regression) {
    features.improper_loss = contains(model.loss, "crossentropy") || contains(model.loss, "hinge");
    features.activation_output =
        !features.improper_loss && model.activation != "linear" && !model.activation_settled;
    return;
  }
  const bool binary = contains(model.loss, "binary");
  const bool categorical = contains(model.loss, "categorical");
  features.improper_loss = !(model.outputs <= 2 ? binary : categorical) && !model.loss_settled;
  if (features.improper_loss || model.activation_settled) return;
  features.activation_output = (binary && model.outputs != 2 && model.activation != "sigmoid") ||
                               (categorical && model.activation != "softmax");
}

void see_outputs(Features& features, const Outputs& outputs) {
  if (outputs.largest_sum > limit("omega_2") + limit("omega_2_slack")) {
    features.activation_output = true;
  }
  if (features.activation_output) return;
  for (const double mean : outputs.mean_abs) {
    if (mean >= limit("omega_1")) features.abnormal_output = true;
  }
}

void see_gradients(Features& features, const Gradients& gradients) {
  if (!gradients.finite) {
    features.nan_gradient = true;
    return;
  }
  const double ratio = gradients.first_norm / gradients.last_norm;  // NaN for 0 / 0: no rule holds
  features.vanishing += ratio < limit("beta_1") && gradients.first_norm < limit("beta_2");
  features.exploding += ratio > limit("beta_3");
  features.dead_relu += gradients.zeros >= limit("gamma");
}

bool oscillates(std::span<const double> accuracy) {
  std::vector<double> peaks, troughs;
  for (std::size_t i = 1; i + 1 < accuracy.size(); ++i) {
    const double before = accuracy[i] - accuracy[i - 1], after = accuracy[i] - accuracy[i + 1];
    if (before >= 0 && after >= 0) peaks.push_back(accuracy[i]);
    if (before <= 0 && after <= 0) troughs.push_back(accuracy[i]);
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(peaks.size(), troughs.size()); ++i) {
    count += peaks[i] - troughs[i] >= limit("zeta");
  }
  return static_cast<double>(count) >= limit("eta") * static_cast<double>(accuracy.size());
}

void see_history(Features& features, const History& history, const Model& model,
                 ToolVariant variant) {
  bool negative = false;
  for (const std::vector<double>* losses : {&history.loss, &history.validation_loss}) {
    for (const double loss : *losses) {
      if (!std::isfinite(loss) || loss >= limit("large_loss")) {
        features.nan_loss = true;
        return;
      }
      negative = negative || loss < 0;
    }
  }
  features.abnormal_loss = features.abnormal_loss || negative;
  const bool repaired = variant == ToolVariant::kRepaired;
  if (repaired && model.regression) return;  // its accuracy says nothing
  const auto seen = static_cast<double>(history.loss.size());
  if (seen <
      limit("judgment_point") * static_cast<double>(model.epochs) - limit("check_interval")) {
    return;
  }
  if (oscillates(history.accuracy)) features.unstable = true;
  if (largest(history.accuracy) < limit("theta") &&
      largest(history.validation_accuracy) < limit("theta")) {
    features.not_converge = true;
  }
  if (repaired && history.accuracy.size() < 2) return;
  if (largest_rise(history.accuracy) < limit("delta") &&
      largest_rise(history.validation_accuracy) < limit("delta")) {
    features.slow_accuracy = true;
  }
}

std::vector<std::string> judge(const Features& features) {
  std::vector<std::string> problems;
  const auto add = [&](const char* problem) {
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
      problems.emplace_back(problem);
    }
  };
  const auto often = [](int checks) { return checks >= limit("determine_threshold"); };
  if (features.abnormal_output) add("abnormal_data");
  if (features.abnormal_loss) {
    add("loss_issue");
  } else if (features.nan_loss && features.activation_output) {
    add("activation_issue");
  } else if (features.nan_loss && (features.nan_weight || features.nan_gradient)) {
    add("explode");
  }
  if (features.not_converge || features.slow_accuracy) {
    if (features.activation_output) {
      add("activation_issue");
    } else if (often(features.dead_relu)) {
      add("relu");
    } else if (often(features.exploding)) {
      add("explode");
    } else if (often(features.vanishing)) {
      add("vanish");
    } else if (features.not_converge && features.slow_accuracy && !features.abnormal_output) {
      add("not_converge");
    }
  }
  if (features.unstable) add(features.activation_output ? "activation_issue" : "unstable");
  if (features.improper_loss && !features.activation_output) add("loss_issue");
  return problems;
}

std::string most_urgent(const std::vector<std::string>& problems) {
  const auto it = std::max_element(
      problems.begin(), problems.end(),
      [](const auto& a, const auto& b) { return limit("priority_" + a) < limit("priority_" + b); });
  return it == problems.end() ? "" : *it;
}

Monitor::Monitor(const Model& model, ToolVariant variant) : model_(model), variant_(variant) {
  see_model(features_, model_, variant_);
}

bool Monitor::checks(std::int64_t epoch) const {
  return epoch % static_cast<std::int64_t>(limit("check_interval")) == 0 ||
         (variant_ == ToolVariant::kRepaired && epoch + 1 == model_.epochs);
}

bool Monitor::looks_at_outputs(std::int64_t epoch) const {
  const bool midway = midway_ && static_cast<double>(epoch) >=
                                     limit("outputs_point") * static_cast<double>(model_.epochs);
  const bool last = variant_ == ToolVariant::kRepaired && epoch + 1 == model_.epochs;
  return features_.abnormal_loss || features_.nan_loss || features_.slow_accuracy || midway || last;
}

std::string Monitor::check(std::int64_t epoch, const History& history, const Gradients& gradients,
                           bool weights_finite, const Outputs* outputs) {
  assert((outputs != nullptr) == looks_at_outputs(epoch));
  if (static_cast<double>(epoch) >= limit("outputs_point") * static_cast<double>(model_.epochs)) {
    midway_ = false;
  }
  // In the repaired tool, the outputs of a regression may be as large as its targets are.
  if (outputs != nullptr && !(variant_ == ToolVariant::kRepaired && model_.regression)) {
    Outputs seen = *outputs;
    if (model_.activation_settled) seen.largest_sum = 0;  // the activation isn't to blame
    see_outputs(features_, seen);
  }
  see_gradients(features_, gradients);
  features_.nan_weight = features_.nan_weight || !weights_finite;
  see_history(features_, history, model_, variant_);
  return outputs != nullptr ? most_urgent(judge(features_)) : "";
}

}  // namespace neutra::fl_adapters::autotrainer
