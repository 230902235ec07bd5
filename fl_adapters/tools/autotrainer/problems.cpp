#include "fl_adapters/autotrainer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/words.h"
#include "fl_adapters/embedded.h"
#include "fl_adapters/watch.h"

namespace neutra::fl_adapters {
namespace autotrainer {
namespace {

constexpr const char* kFile = "fl_adapters/messages/autotrainer.json";

double limit(const std::string& name) { return message_table().threshold(name); }

/// A repair that the tool tries for a problem, up to `tries` times.
struct Repair {
  std::string name;
  int tries = 1;
};

/// "lr_3" -> lr, 3 tries.
Repair repair_of(const std::string& word) {
  const std::size_t bar = word.rfind('_');
  return {word.substr(0, bar), std::stoi(word.substr(bar + 1))};
}

/// By problem, in the tool's order.
const std::map<std::string, std::vector<Repair>>& repairs() {
  static const auto table = [] {
    std::map<std::string, std::vector<Repair>> read;
    const Json document = parse_json(embedded::autotrainer_messages, kFile);
    for (const auto& [problem, words] : document.at("repairs").items()) {
      for (const Json& word : words) read[problem].push_back(repair_of(word));
    }
    return read;
  }();
  return table;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

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
  static const MessageTable table(embedded::autotrainer_messages, kFile);
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
    for (const float value : output.subspan(row, width))
      sum += std::abs(static_cast<double>(value));
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
  if (seen < limit("judgment_point") * static_cast<double>(model.epochs) - limit("check_interval"))
    return;
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

namespace {

/// Layers that the tool's repairs change.
struct Places {
  std::set<int> activations;   ///< replaced by selu, relu, tanh, leaky
  std::set<int> initializers;  ///< of kernels
  std::set<int> output;        ///< whose activation a wrong output activation is
};

Places places_in(const program::ResolvedProgram& program) {
  const auto has = [&](std::size_t i, const char* field) {
    return member(program.layers[i].config, field) != nullptr;
  };
  const auto activates = [&](std::size_t i) {
    static const std::set<std::string> kLayers{"Activation", "ELU", "LeakyReLU", "ReLU", "Softmax"};
    return i < program.layers.size() && kLayers.contains(program.layers[i].class_name);
  };
  Places places;
  std::size_t last = program.layers.size();
  while (last > 0 && (!has(last - 1, "activation") || activates(last - 1))) --last;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    const int index = program.layers[i].index;
    if (has(i, "activation") && !activates(i) && !activates(i + 1))
      places.activations.insert(index);
    if (has(i, "kernel_initializer")) places.initializers.insert(index);
  }
  std::size_t output = program.layers.size();
  while (output > last && !activates(output - 1)) --output;
  if (output > 0) places.output = {program.layers[output - 1].index};
  return places;
}

/// "a, b or c"
std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// The numbers of a repair's tries: first, first * base^step, first * base^(2 step), ..., without
/// the one that is there.
std::vector<std::string> tried(double first, double base, int step, int tries, double present) {
  std::vector<std::string> values;
  for (int i = 0; i < tries; ++i) {
    const double value = first * std::pow(base, step * i);
    if (std::abs(value - present) > 1e-9 * value) values.push_back(shortest(value));
  }
  return values;
}

/// The first that the task allows and that isn't there; "" for none.
template <typename Allows>
std::string first_other(const std::vector<std::string>& words, const std::string& present,
                        Allows allows) {
  const auto it = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return word != present && allows(word);
  });
  return it == words.end() ? "" : *it;
}

/// Keras's loss that the tool would take instead; "" for none.
std::string other_loss(const Model& model, const Care* care) {
  const std::string wanted = model.outputs > 2 ? "categorical_crossentropy" : "binary_crossentropy";
  if (care != nullptr) {
    return first_other(
        {wanted, "sparse_categorical_crossentropy", "mean_squared_error", "mean_absolute_error"},
        model.loss, [&](const std::string& loss) { return care->rules.allows_loss(loss); });
  }
  return model.loss != wanted ? wanted : any_of({"mean_squared_error", "mean_absolute_error"});
}

std::string output_activation(const Model& model, const Care* care) {
  if (care != nullptr) {
    return first_other(
        care->rules.regression() ? std::vector<std::string>{"linear"}
                                 : std::vector<std::string>{"softmax", "sigmoid", "linear"},
        model.activation,
        [&](const std::string& activation) { return care->rules.allows_activation(activation); });
  }
  if (model.outputs != 1) return "softmax";
  return contains(model.loss, "entropy") ? "sigmoid" : "linear";
}

/// The numbers that a repair tries one after the other; empty where it tries none.
std::vector<std::string> numbers_of(const Repair& repair, const std::string& problem,
                                    const program::ResolvedProgram& program, const Care* care) {
  constexpr double kNone = -1;
  if (repair.name == "lr") {
    const bool sgd = program.optimizer.at("class_name") == "SGD";
    const double rate = program.optimizer.at("config").at("learning_rate");
    return tried(sgd ? 0.01 : 0.001, 10, problem == "not_converge" ? 1 : -1, repair.tries,
                 care != nullptr ? rate : kNone);
  }
  if (repair.name == "batch") {
    return tried(32, 2, 1, repair.tries,
                 care != nullptr ? static_cast<double>(program.batch_size) : kNone);
  }
  return {};
}

/// What fills the braces of a repair's text.
std::vector<std::string> values_of(const Repair& repair, const std::string& problem,
                                   const program::ResolvedProgram& program, const Care* care) {
  const std::string optimizer = program.optimizer.at("class_name");
  if (const auto numbers = numbers_of(repair, problem, program, care); !numbers.empty()) {
    return {any_of(numbers)};
  }
  if (repair.name == "gradient") return {"9 to 10"};
  if (repair.name == "momentum") return {"0.01 to 0.9"};
  if (repair.name == "loss") return {other_loss(model_of(program), care)};
  if (repair.name == "activation") return {output_activation(model_of(program), care)};
  if (repair.name == "initial") {
    const std::string any = any_of({"he_uniform", "lecun_uniform", "glorot_normal",
                                    "glorot_uniform", "he_normal", "lecun_normal"});
    return {any, any};
  }
  if (repair.name == "optimizer") {
    std::vector<std::string> others{"SGD", "Adam", "Nadam", "Adamax", "RMSprop"};
    std::erase(others, optimizer);
    return {any_of(others)};
  }
  return {};
}

/// Is it there, or is there nothing that it may change? What the repaired tool asks besides.
bool is_pointless(const Repair& repair, const program::ResolvedProgram& program, const Care& care) {
  const auto has_layer = [&](const char* name) {
    return std::any_of(
        program.layers.begin(), program.layers.end(),
        [&](const program::ResolvedLayer& layer) { return layer.class_name == name; });
  };
  if (repair.name == "loss") return other_loss(model_of(program), &care).empty();
  if (repair.name == "activation") return output_activation(model_of(program), &care).empty();
  if (repair.name == "data") return care.features_scaled;
  if (repair.name == "bn") return has_layer("BatchNormalization");
  if (repair.name == "GN") return has_layer("GaussianNoise");
  if (repair.name == "momentum") {
    const Json* momentum = member(program.optimizer.at("config"), "momentum");
    return program.optimizer.at("class_name") == "SGD" && momentum != nullptr &&
           momentum->get<double>() > 0;
  }
  if (repair.name == "ReduceLR") {
    return std::any_of(
        program.callbacks.begin(), program.callbacks.end(),
        [](const Json& callback) { return callback.at("class_name") == "ReduceLROnPlateau"; });
  }
  if (repair.name == "selu" || repair.name == "relu" || repair.name == "tanh") {
    const std::set<int> places = places_in(program).activations;
    return !places.empty() && std::all_of(places.begin(), places.end(), [&](int layer) {
      return program.layers[static_cast<std::size_t>(layer)].config.at("activation") == repair.name;
    });
  }
  return false;
}

/// Does the program have it already? Then the tool doesn't try it.
bool is_there(const Repair& repair, const program::ResolvedProgram& program) {
  const Json& optimizer = program.optimizer;
  if (repair.name == "adam") return optimizer.at("class_name") == "Adam";
  if (repair.name == "batch") return program.batch_size == 32;
  if (repair.name == "gradient") {
    for (const char* field : {"clipvalue", "clipnorm"}) {
      const Json* value = member(optimizer.at("config"), field);
      if (value != nullptr && !value->is_null()) return true;
    }
  }
  return false;
}

ToolMessage message_of(const Repair& repair, const std::string& problem,
                       const program::ResolvedProgram& program, const Care* care) {
  const Places places = places_in(program);
  ToolMessage message = message_table().message("repair:" + repair.name);
  message.text = with_values(message.text, values_of(repair, problem, program, care));
  const std::size_t numbers = numbers_of(repair, problem, program, care).size();
  const std::size_t tries = numbers > 0 ? numbers : static_cast<std::size_t>(repair.tries);
  message.detail =
      "tried " + std::to_string(tries) + (tries == 1 ? " time" : " times") + " for " + problem;
  for (program::FaultEntry& fault : message.faults) {
    if (repair.name == "activation") {
      fault.layers = places.output;
    } else if (fault.type == "ACH") {
      fault.layers = places.activations;
    } else if (fault.type == "WCI") {
      fault.layers = places.initializers;
    }
    message.layers = fault.layers;
  }
  // Where there is nothing to change, the repair isn't one.
  std::erase_if(message.faults, [](const program::FaultEntry& fault) {
    return (fault.type == "ACH" || fault.type == "WCI") && fault.layers.empty();
  });
  return message;
}

}  // namespace

std::vector<ToolMessage> messages_for(const std::string& problem,
                                      const program::ResolvedProgram& program, std::int64_t epoch,
                                      const Care* care) {
  std::vector<ToolMessage> messages{message_table().message(problem)};
  messages.front().epochs = {epoch};
  for (const Repair& repair : repairs().at(problem)) {
    if (is_there(repair, program)) continue;
    if (care != nullptr && is_pointless(repair, program, *care)) continue;
    ToolMessage message = message_of(repair, problem, program, care);
    message.epochs = {epoch};
    for (const program::FaultEntry& fault : message.faults) {
      std::vector<program::FaultEntry>& choice = messages.front().faults;
      if (std::find(choice.begin(), choice.end(), fault) == choice.end()) choice.push_back(fault);
    }
    const program::FaultSet own{true, {message.faults}};
    message.ignored = message.faults.empty() ? "changes nothing here"
                                             : to_string(own) + " is in the choice of " + problem;
    message.faults.clear();
    messages.push_back(std::move(message));
  }
  if (care != nullptr && messages.front().faults.empty()) {
    messages.front().ignored = "the program has all that the tool would try";
  }
  return messages;
}

std::vector<evaluators::Suspect> ranking_of(const std::vector<ToolMessage>& messages) {
  std::vector<evaluators::Suspect> ranking;
  for (const ToolMessage& message : messages) {
    for (const program::FaultEntry& fault : message.faults) {
      evaluators::Suspect suspect;
      suspect.type = fault.type;
      if (fault.layers.size() == 1) suspect.layer = *fault.layers.begin();
      suspect.suspiciousness = 1 / static_cast<double>(ranking.size() + 1);
      ranking.push_back(std::move(suspect));
    }
  }
  return ranking;
}

namespace {

bool all_finite(std::span<const training::LayerView> layers) {
  for (const training::LayerView& layer : layers) {
    for (const std::span<const float> values : layer.weights) {
      if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
        return false;
      }
    }
  }
  return true;
}

class Watcher final : public training::Observer {
 public:
  /// `care`: null for the published tool.
  Watcher(const program::ResolvedProgram& program, std::optional<Care> care,
          std::vector<ToolMessage>& messages)
      : program_(program),
        care_(std::move(care)),
        messages_(messages),
        monitor_(model_with(program, care_),
                 care_ ? ToolVariant::kRepaired : ToolVariant::kAsPublished) {}

  bool wants_validation() const override { return true; }

  void begin(const training::DataView& data, training::Probe& probe) override {
    if (care_) {
      care_->features_scaled = std::all_of(data.training.begin(), data.training.end(),
                                           [](float value) { return value >= 0 && value <= 1; });
    }
    const std::int64_t rows = std::min(program_.batch_size, probe.max_rows());
    first_batch_.resize(static_cast<std::size_t>(rows));
    std::iota(first_batch_.begin(), first_batch_.end(), std::int64_t{0});
  }

  void epoch_end(const training::EpochEvent& event) override {
    // Without any validation rows, those of the training take their place.
    const auto log = [&](const std::string& name, std::vector<double>& training,
                         std::vector<double>& validation) {
      training.push_back(event.logs.at(name));
      const auto it = event.logs.find("val_" + name);
      validation.push_back(it == event.logs.end() ? training.back() : it->second);
    };
    log("loss", history_.loss, history_.validation_loss);
    log("accuracy", history_.accuracy, history_.validation_accuracy);
    if (!monitor_.checks(event.epoch)) return;
    const bool weights_finite = all_finite(event.layers);
    const Gradients gradients = gradients_of(event.probe->backward(first_batch_).layers);
    Outputs outputs;
    const bool look = monitor_.looks_at_outputs(event.epoch);
    if (look) {
      outputs = outputs_of(event.probe->forward(first_batch_).layers,
                           static_cast<std::int64_t>(first_batch_.size()));
    }
    const std::string problem =
        monitor_.check(event.epoch, history_, gradients, weights_finite, look ? &outputs : nullptr);
    if (problem.empty()) return;
    messages_ = messages_for(problem, program_, event.epoch, care_ ? &*care_ : nullptr);
    stop_ = true;
  }

  bool stop() override { return stop_; }

 private:
  static Model model_with(const program::ResolvedProgram& program,
                          const std::optional<Care>& care) {
    Model model = model_of(program);
    model.loss_settled = care && care->rules.loss_is_settled();
    model.activation_settled = care && care->rules.activation_is_settled();
    return model;
  }

  const program::ResolvedProgram& program_;
  std::optional<Care> care_;
  std::vector<ToolMessage>& messages_;
  Monitor monitor_;
  History history_;
  std::vector<std::int64_t> first_batch_;
  bool stop_ = false;
};

/// The program as the tool compiles it: whatever it measured, now it is accuracy.
program::Program measuring_accuracy(program::Program program) {
  program.document["compile"]["metrics"] = {"accuracy"};
  program.document["metric"] = {{"name", "accuracy"}, {"goal", "maximize"}};
  return program;
}

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  Watch watch(context);
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return watch.finish({}, LocalisationStatus::kNotApplicable, to_string(problems.front()));
  }
  const program::ResolvedProgram resolved = program::resolve(faulty.program);
  Localisation result;
  std::optional<Care> care;
  if (context.variant == ToolVariant::kRepaired) {
    care = Care{TaskRules(faulty.program, data_of(faulty.program, context.trainer)), false};
  }
  Watcher watcher(resolved, std::move(care), result.messages);
  const program::Program program =
      resolved.metric == "accuracy" ? faulty.program : measuring_accuracy(faulty.program);
  const LocalisationStatus status = watch.train(program, watcher);
  result.ranking = ranking_of(result.messages);
  return watch.finish(std::move(result), status, watch.reason());
}

}  // namespace
}  // namespace autotrainer

extern const Tool autotrainer_tool{
    "autotrainer",
    "2023-12",
    ToolKind::kNative,
    {ToolNeed::kProgram, ToolNeed::kTraining},
    "checks losses, accuracies, gradients and outputs every 3 epochs; suggests repairs in order",
    "Zhang, Zhai, Ma and Shen, AUTOTRAINER: An Automatic DNN Training Problem Detection and Repair "
    "System, ICSE 2021; https://github.com/shiningrain/AUTOTRAINER",
    autotrainer::localise,
    autotrainer::message_table};

}  // namespace neutra::fl_adapters
