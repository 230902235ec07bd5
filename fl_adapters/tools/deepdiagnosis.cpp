#include "fl_adapters/tools/deepdiagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"

namespace neutra::fl_adapters::deepdiagnosis {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Where the values of a function lie.
struct Range {
  const char* function;
  float min, max;
  bool published;  ///< the published tool knows it, too
};
constexpr Range kRanges[] = {{"sigmoid", 0, 1, true},
                             {"tanh", -1, 1, true},
                             {"relu", 0, kInfinity, true},
                             {"elu", -1, kInfinity, true},
                             {"linear", -kInfinity, kInfinity, true},
                             {"exponential", 0, kInfinity, false},
                             {"hard_sigmoid", 0, 1, false},
                             {"selu", -1.7580993f, kInfinity, false},
                             {"softplus", 0, kInfinity, false},
                             {"softsign", -1, 1, false}};

bool takes_softmax(const std::string& loss) {
  return loss == "categorical_crossentropy" || loss == "sparse_categorical_crossentropy";
}

struct Extremes {
  float min, max;
};
/// np.min and np.max: NaN where one is.
Extremes extremes(std::span<const float> values) {
  Extremes found{kInfinity, -kInfinity};
  for (const float value : values) {
    if (std::isnan(value)) return {value, value};
    found.min = std::min(found.min, value);
    found.max = std::max(found.max, value);
  }
  return found;
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("deepdiagnosis");
  return table;
}

Summary summary(std::span<const float> values) {
  Summary result;
  result.mean = mean_of(values);
  std::vector<float> absolute(values.size());
  std::transform(values.begin(), values.end(), absolute.begin(),
                 [](float v) { return std::abs(v); });
  result.mean_abs = numpy_mean(std::span<const float>(absolute));
  double squares = 0, deviations = 0;
  for (const float value : values) {
    squares += static_cast<double>(value) * value;
    const double deviation = static_cast<double>(value) - result.mean.value;
    deviations += deviation * deviation;
  }
  result.norm = std::sqrt(squares);
  result.variance = deviations / (static_cast<double>(values.size()) - 1);
  return result;
}

Checker::Checker(CallbackModel model, Setting setting)
    : model_(std::move(model)),
      setting_(std::move(setting)),
      forward_(model_.layers.size()),
      delta_weights_(model_.layers.size()),
      weights_(model_.layers.size()) {}

/// What the tool takes for a layer's function: the published one for that of an Activation layer;
/// other layers have their name.
const std::string& Checker::kind(std::size_t layer) const {
  const CallbackModel::Layer& l = model_.layers[layer];
  if (model_.repaired) return l.activation;
  return l.name.find("activation") != std::string::npos ? l.activation : l.name;
}

Finding Checker::problem(const char* code, std::optional<std::size_t> layer, std::string detail,
                         ToolMessage suggestion) const {
  Finding finding;
  finding.messages.push_back(
      callback_message(message_table(), code, epoch_->epoch, epoch_->epoch, model_, layer));
  finding.messages.back().detail = std::move(detail);
  if (!suggestion.code.empty()) finding.messages.push_back(std::move(suggestion));
  return finding;
}

Finding Checker::check(const EpochTrace& epoch) {
  epoch_ = &epoch;
  ++epochs_;
  for (const LayerTrace& layer : epoch.layers) {
    std::string error = model_.repaired ? "" : unpacking_error(layer.weights.size());
    if (!error.empty()) return {{}, std::move(error)};
  }
  for (const auto rules : {&Checker::forward, &Checker::metrics, &Checker::gradients}) {
    if (Finding finding = (this->*rules)(); finding.stops()) return finding;
  }
  return {};
}

bool Checker::unchanged(Window& window) const {
  const Window values = std::exchange(window, {});
  return mean_is_max(std::span(values));
}

Finding Checker::forward() {
  const bool looks_back = epochs_ % static_cast<std::int64_t>(limit("window")) == 0;
  for (std::size_t i = 0; i < model_.layers.size(); ++i) {
    const std::span<const float> outputs = epoch_->layers[i].outputs;
    const Mean mean = mean_of(outputs);
    forward_[i].push_back(mean.value);
    if (i == model_.last() && kind(i) != "softmax" && epoch_->epoch == 0) {
      std::string failure;
      if (out_of_range(outputs, failure)) {
        return problem("out_of_range", i, kind(i) + " with " + setting_.loss, for_range());
      }
      if (!failure.empty()) return {{}, failure};
    }
    if (!std::isfinite(mean.value) || model_.is_zero(mean)) {
      return problem("numerical_forward", i, "mean " + shortest(mean.value),
                     for_numerical_error(Place::kForward, i));
    }
    if ((kind(i) == "relu" || kind(i) == "exponential") && epoch_->epoch == setting_.epochs - 1) {
      const auto dead =
          std::count_if(outputs.begin(), outputs.end(), [](float v) { return v <= 0; });
      const double share = static_cast<double>(dead) / static_cast<double>(outputs.size());
      if (share >= limit("dead_share")) {
        return problem("dead_node", i, shortest(share) + " of the values are at most 0",
                       for_activation(i));
      }
    }
    if (looks_back) {
      std::string detail = saturation(i);
      if (!detail.empty()) {
        return problem("saturated_activation", i, std::move(detail), for_activation(i));
      }
    }
  }
  for (std::size_t i = 0; looks_back && i < model_.last(); ++i) {
    if (unchanged(forward_[i]) && !model_.layers[i].flatten && model_.should_move(i)) {
      return problem("unchanged_forward", i, "", for_unchanged());
    }
  }
  return {};
}

/// Do the targets lie outside of what the last layer can give, or can't the loss be right? The
/// published tool fails at functions that it doesn't know.
bool Checker::out_of_range(std::span<const float> outputs, std::string& failure) const {
  std::string function = kind(model_.last());
  if (!model_.repaired && function.find("dense") != std::string::npos) function = "linear";
  const auto known = std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& range) {
    return function == range.function && (range.published || model_.repaired);
  });
  if (known == std::end(kRanges)) {
    if (!model_.repaired) {
      failure = "the tool stops with an error: it knows no range for \"" + function + "\"";
    }
    return false;
  }
  if ((function == "relu" || function == "linear") && takes_softmax(setting_.loss)) return true;
  if (function == "linear") {
    const Extremes found = extremes(outputs);
    const float targets = std::abs(setting_.target_max - setting_.target_min);
    if (std::abs(found.max - found.min) > targets * static_cast<float>(limit("output_range"))) {
      return true;
    }
  }
  return setting_.target_min < known->min || setting_.target_max > known->max;
}

/// How far what goes into a sigmoid or tanh saturates it; empty where it doesn't.
std::string Checker::saturation(std::size_t layer) const {
  const double value = limit("saturated_value");
  double low = -value, high = value;
  std::string function;
  if (layer < model_.last() &&
      (!model_.repaired || model_.layers[layer + 1].class_name == "Activation")) {
    function = kind(layer + 1);
  }
  if (function != "sigmoid" && function != "tanh") {
    // Inside of a layer: its outputs tell what went into them.
    const CallbackModel::Layer& own = model_.layers[layer];
    if (!model_.repaired || own.class_name == "Activation") return "";
    function = own.activation;
    if (function == "sigmoid") {
      low = 1 / (1 + std::exp(value));
      high = 1 / (1 + std::exp(-value));
    } else if (function == "tanh") {
      low = std::tanh(-value);
      high = std::tanh(value);
    } else {
      return "";
    }
  }
  const std::span<const float> values = epoch_->layers[layer].outputs;
  const auto extreme =
      std::count_if(values.begin(), values.end(), [&](float v) { return v <= low || v >= high; });
  const double share = static_cast<double>(extreme) / static_cast<double>(values.size());
  if (!(share > limit("saturated_share"))) return "";
  return shortest(share) + " of the values saturate a " + function;
}

Finding Checker::metrics() {
  const auto every = [&](const char* window) {
    return epochs_ % static_cast<std::int64_t>(limit(window)) == 0;
  };
  if (epoch_->loss) {
    losses_.push_back(*epoch_->loss);
    if (!std::isfinite(*epoch_->loss)) {
      return problem("invalid_loss", {}, shortest(*epoch_->loss), for_invalid_metric());
    }
    if (every("window")) {
      const std::vector<double> losses = std::exchange(losses_, {});
      if (mean_is_max(std::span(losses))) {
        if (model_.repaired) return problem("loss_not_decreasing", {}, "", for_stagnation());
        return problem("loss_not_decreasing", {},
                       "the tool then stops with an error: LossAnalysis() lacks an argument", {});
      }
    }
  }
  if (epoch_->accuracy) {
    accuracies_.push_back(*epoch_->accuracy);
    if (!std::isfinite(*epoch_->accuracy) || *epoch_->accuracy == 0) {
      return problem("invalid_accuracy", {}, shortest(*epoch_->accuracy), for_invalid_metric());
    }
    if (every("accuracy_window")) {
      const std::vector<double> accuracies = std::exchange(accuracies_, {});
      if (mean_is_max(std::span(accuracies))) {
        return problem("accuracy_not_increasing", {}, "", for_stagnation());
      }
    }
  }
  return {};
}

Finding Checker::gradients() {
  std::vector<bool> has_weights;
  for (const LayerTrace& layer : epoch_->layers) has_weights.push_back(!layer.gradients.empty());
  const auto sources = model_.gradient_sources(has_weights);
  const auto numerical = [&](const Mean& mean) {
    return !std::isfinite(mean.value) || model_.is_zero(mean);
  };
  for (std::size_t i = model_.layers.size(); i-- > 0;) {
    if (sources[i]) {
      const Summary& gradient = epoch_->layers[*sources[i]].gradients.front();
      if (numerical(gradient.mean)) {
        return problem("numerical_delta_weights", i, "mean " + shortest(gradient.mean.value),
                       for_numerical_error(Place::kGradients, i));
      }
      if (gradient.mean_abs < static_cast<float>(limit("vanishing_gradient"))) {
        return problem("vanishing_gradient", i, "mean size " + shortest(gradient.mean_abs),
                       for_vanishing(i));
      }
      delta_weights_[i].push_back(gradient.mean.value);
    }
    if (epoch_->layers[i].weights.empty()) continue;
    const Mean& kernel = epoch_->layers[i].weights.front().mean;
    weights_[i].push_back(kernel.value);
    if (numerical(kernel)) {
      return problem("numerical_weights", i, "mean " + shortest(kernel.value),
                     for_numerical_error(Place::kWeights, i));
    }
  }
  if (epochs_ % static_cast<std::int64_t>(limit("window")) != 0) return {};
  for (std::size_t i = model_.layers.size(); i-- > 0;) {
    const bool gradient = unchanged(delta_weights_[i]), weight = unchanged(weights_[i]);
    if (!model_.layers[i].dense || !model_.should_move(i)) continue;
    if (gradient) return problem("unchanged_delta_weights", i, "", for_unchanged());
    if (weight) return problem("unchanged_weights", i, "", for_unchanged());
  }
  return {};
}

ToolMessage Checker::suggest(const char* code, std::optional<std::size_t> layer) const {
  ToolMessage message =
      callback_message(message_table(), code, epoch_->epoch, epoch_->epoch, model_, layer);
  for (program::FaultEntry& fault : message.faults) {
    if (fault.type != "ACH") fault.layers.clear();  // the layer is that of the activation
  }
  return message;
}

ToolMessage Checker::for_range() const {
  // The published tool's condition for the other suggestion never holds.
  if (model_.repaired && !takes_softmax(setting_.loss)) {
    return suggest("activation_in_range", model_.last());
  }
  ToolMessage message = suggest("to_softmax", model_.last());
  if (model_.layers.back().activation == "softmax") {
    message.faults.clear();
    message.ignored = "the output is a softmax already";
  }
  return message;
}

ToolMessage Checker::for_numerical_error(Place place, std::size_t layer) const {
  const std::size_t next = layer + 1;
  if (place == Place::kGradients) {
    if (next == model_.last()) return suggest("loss_or_activation", next);
    if (next < model_.last()) return suggest("activation", next);
    return {};
  }
  if (has_poor_weights()) return suggest("weights");
  if (has_odd_input()) return suggest("normalise");
  if (has_odd_learning_rate()) return suggest("learning_rate");
  return suggest("activation", next);
}

ToolMessage Checker::for_unchanged() const {
  if (has_poor_weights()) return suggest("weights");
  if (has_odd_learning_rate()) return suggest("learning_rate");
  return suggest("optimizer_of_tensor");
}

ToolMessage Checker::for_activation(std::size_t layer) const {
  if (has_odd_input()) return suggest("normalise");
  if (has_poor_weights()) return suggest("weights");
  if (has_odd_learning_rate()) return suggest("learning_rate");
  return suggest("dropout_or_activation", layer);
}

ToolMessage Checker::for_vanishing(std::size_t layer) const {
  return has_odd_learning_rate() ? suggest("learning_rate") : suggest("layers_or_sigmoid", layer);
}

ToolMessage Checker::for_invalid_metric() const {
  const std::string& last = kind(model_.last());
  if (last == "linear" || (!model_.repaired && last.find("dense") != std::string::npos)) {
    return suggest("last_activation", model_.last());
  }
  return has_odd_learning_rate() ? suggest("learning_rate") : suggest("optimizer");
}

ToolMessage Checker::for_stagnation() const {
  if (has_poor_weights()) return suggest("weights");
  if (has_odd_input()) return suggest("normalise");
  return has_odd_learning_rate() ? suggest("learning_rate") : suggest("optimizer");
}

/// A kernel whose values are all alike, or wide apart. The published tool takes the variance of the
/// kernel's mean, which is none.
bool Checker::has_poor_weights() const {
  return model_.repaired &&
         std::any_of(epoch_->layers.begin(), epoch_->layers.end(), [&](const LayerTrace& layer) {
           if (layer.weights.empty() || layer.weights.size() > 2) return false;
           const double variance = layer.weights.front().variance;
           return variance < limit("variance_low") || variance > limit("variance_high");
         });
}

bool Checker::has_odd_input() const {
  return setting_.input_min < limit("input_min") || setting_.input_max > limit("input_max");
}

/// Steps that are large or small against the weights. The published tool takes a kernel's mean for
/// the kernel, and pairs the layers one by one with the list of all gradients.
bool Checker::has_odd_learning_rate() const {
  const auto odd = [&](double gradient, double weights) {
    const double ratio = setting_.learning_rate * gradient / weights;
    return ratio > limit("learning_rate_high") || ratio < limit("learning_rate_low");
  };
  std::vector<double> gradients;
  for (const LayerTrace& layer : epoch_->layers) {
    for (const Summary& gradient : layer.gradients) gradients.push_back(gradient.norm);
  }
  for (std::size_t i = 0; i < epoch_->layers.size(); ++i) {
    const LayerTrace& layer = epoch_->layers[i];
    if (layer.weights.empty()) continue;
    if (model_.repaired) {
      if (!layer.gradients.empty() &&
          odd(layer.gradients.front().norm, layer.weights.front().norm)) {
        return true;
      }
    } else if (i < gradients.size() &&
               odd(gradients[i], std::abs(layer.weights.front().mean.value))) {
      return true;
    }
  }
  return false;
}

namespace {

/// Makes the tool's traces of a training: outputs and gradients for the first rows.
class Watcher final : public training::Observer {
 public:
  Watcher(const program::Program& program, ToolVariant variant, Finding& finding)
      : program_(program::resolve(program)),
        model_(callback_model(program, variant)),
        finding_(finding) {}

  void begin(const training::DataView& data, training::Probe& probe) override {
    Setting setting;
    setting.loss = program_.loss;
    setting.learning_rate = program_.optimizer.at("config").at("learning_rate");
    setting.epochs = data.epochs;
    Extremes inputs = extremes(data.training), targets = extremes(data.training_targets);
    if (program_.validation_split > 0) {
      // Keras splits these rows off the arrays that the tool gets.
      inputs = both(inputs, extremes(data.validation));
      targets = both(targets, extremes(data.validation_targets));
    }
    setting.input_min = inputs.min;
    setting.input_max = inputs.max;
    setting.target_min = targets.min;
    setting.target_max = targets.max;
    checker_.emplace(model_, setting);
    rows_.resize(static_cast<std::size_t>(probe.max_rows()));
    std::iota(rows_.begin(), rows_.end(), std::int64_t{0});
  }

  void epoch_end(const training::EpochEvent& event) override {
    EpochTrace trace;
    trace.epoch = event.epoch;
    if (const auto it = event.logs.find("loss"); it != event.logs.end()) trace.loss = it->second;
    if (const auto it = event.logs.find("accuracy"); it != event.logs.end()) {
      trace.accuracy = it->second;
    }
    trace.layers.resize(model_.layers.size());
    const training::Probe::Answer backward = event.probe->backward(rows_);
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      const training::LayerView& view = at(backward, i);
      for (const auto& values : view.weights) trace.layers[i].weights.push_back(summary(values));
      for (const auto& values : view.gradients) {
        trace.layers[i].gradients.push_back(summary(values));
      }
    }
    const training::Probe::Answer forward = event.probe->forward(rows_);
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      trace.layers[i].outputs = at(forward, i).activations;
    }
    finding_ = checker_->check(trace);
  }

  bool stop() override { return finding_.stops(); }

 private:
  static Extremes both(const Extremes& a, const Extremes& b) {
    if (std::isnan(a.min) || std::isnan(b.min)) return {std::nanf(""), std::nanf("")};
    return {std::min(a.min, b.min), std::max(a.max, b.max)};
  }
  const training::LayerView& at(const training::Probe::Answer& answer, std::size_t layer) const {
    return answer.layers[static_cast<std::size_t>(model_.layers[layer].index)];
  }

  program::ResolvedProgram program_;
  CallbackModel model_;
  Finding& finding_;
  std::optional<Checker> checker_;
  std::vector<std::int64_t> rows_;
};

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  return run_callback(faulty, context, [&](Finding& finding) {
    return std::make_unique<Watcher>(faulty.program, context.variant, finding);
  });
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{
      "deepdiagnosis",
      "2022-06",
      ToolKind::kNative,
      {ToolNeed::kTraining},
      "outputs, metrics, gradients and weights after each epoch; stops at the first problem and "
      "suggests a fix",
      "Wardat, Cruz, Le and Rajan, DeepDiagnosis: Automatically Diagnosing Faults and Recommending "
      "Actionable Fixes in Deep Learning Programs, ICSE 2022; "
      "https://github.com/DeepDiagnosis/ICSE2022",
      localise,
      message_table,
      true}};
}

}  // namespace neutra::fl_adapters::deepdiagnosis
