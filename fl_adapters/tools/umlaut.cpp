#include "fl_adapters/tools/umlaut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "fl_adapters/task_rules.h"
#include "fl_adapters/watch.h"
#include "program/graph.h"

namespace neutra::fl_adapters::umlaut {
namespace {

/// A model as the rules see it.
class Model {
 public:
  Model(const program::Program& program, ToolVariant variant, std::optional<program::DataInfo> data)
      : repaired_(variant == ToolVariant::kRepaired),
        resolved_(program::resolve(program)),
        rules_(program, std::move(data)) {
    const Json& config = program.document.at("model").at("config");
    const Json& layers = config.is_array() ? config : config.at("layers");
    for (const Json& layer : layers) {
      const Json* settings = member(layer, "config");
      const Json* name = settings != nullptr ? member(*settings, "name") : nullptr;
      names_.push_back(name != nullptr && name->is_string() ? name->get<std::string>() : "");
    }
  }

  int size() const { return static_cast<int>(resolved_.layers.size()); }
  int last() const { return size() - 1; }
  const TaskRules& rules() const { return rules_; }

  /// The `activation` setting; "" for a layer without one.
  std::string activation(int layer) const {
    const Json* value = member(at(layer).config, "activation");
    return value != nullptr ? value->get<std::string>() : "";
  }

  bool repaired() const { return repaired_; }

  /// Is the last layer nothing but a softmax? The published tool looks for the word in the layer's
  /// name, which Keras makes from the class unless the program gives one.
  bool ends_with_softmax_layer() const {
    const program::ResolvedLayer& layer = at(last());
    const std::string& name = names_[static_cast<std::size_t>(last())];
    if (!repaired_ && !name.empty()) return name.find("softmax") != std::string::npos;
    return layer.class_name == "Softmax" ||
           (repaired_ && layer.class_name == "Activation" && activation(last()) == "softmax");
  }
  /// Does the last layer compute a softmax?
  bool output_is_softmax() const {
    return at(last()).class_name == "Softmax" || activation(last()) == "softmax";
  }

  /// The layer that alone takes the output of this one.
  std::optional<int> only_consumer(int layer) const {
    const auto next = program::only_consumer(resolved_.layers, static_cast<std::size_t>(layer));
    return next ? std::optional(static_cast<int>(*next)) : std::nullopt;
  }

  /// Does a layer of its own hold this layer's activation? Batch normalisation and dropout may lie
  /// between.
  bool activation_follows(int layer) const {
    for (auto behind = only_consumer(layer); behind; behind = only_consumer(*behind)) {
      const int next = *behind;
      const std::string& name = at(next).class_name;
      if (name == "Activation") return activation(next) != "linear";
      if (name == "ReLU" || name == "ELU" || name == "LeakyReLU" || name == "Softmax") return true;
      if (name != "BatchNormalization" && name != "Dropout") return false;
    }
    return false;
  }

  /// Dropout layers with a rate above `limit`.
  std::set<int> dropouts_above(double limit) const {
    std::set<int> layers;
    for (int i = 0; i < size(); ++i) {
      if (at(i).class_name == "Dropout" && at(i).config.at("rate").get<double>() > limit) {
        layers.insert(i);
      }
    }
    return layers;
  }

 private:
  const program::ResolvedLayer& at(int layer) const {
    return resolved_.layers[static_cast<std::size_t>(layer)];
  }
  bool repaired_;
  program::ResolvedProgram resolved_;
  TaskRules rules_;
  std::vector<std::string> names_;  ///< as the program gives them; "" where it doesn't
};

/// The message without its part of the answer.
ToolMessage ignored(ToolMessage message, const std::string& why) {
  message.faults.clear();
  message.ignored = why;
  return message;
}

constexpr const char* kSoftmaxAlready = "the output is a softmax already";

/// Adds a message. One with a reason to be ignored is a defect, which the repaired tool doesn't
/// have.
void say(std::vector<ToolMessage>& found, ToolMessage message, const Model& model) {
  if (message.ignored.empty() || !model.repaired()) found.push_back(std::move(message));
}

void check_softmax(const Model& model, std::vector<ToolMessage>& found) {
  if (model.ends_with_softmax_layer()) return;
  ToolMessage message = message_table().message("no_softmax", {model.last()});
  if (model.output_is_softmax()) {
    message = ignored(std::move(message), kSoftmaxAlready);
  } else if (model.rules().regression()) {
    message = ignored(std::move(message), "a regression needs no softmax");
  } else if (model.repaired() && !model.rules().allows_activation("softmax")) {
    return;
  }
  say(found, std::move(message), model);
}

void check_activations(const Model& model, std::vector<ToolMessage>& found) {
  const int end = model.ends_with_softmax_layer() ? model.last() - 1 : model.last();
  std::set<int> linear, missing;
  for (int layer = 0; layer < end; ++layer) {
    if (model.activation(layer) != "linear") continue;
    linear.insert(layer);
    if (!model.activation_follows(layer)) missing.insert(layer);
  }
  if (linear.empty()) return;
  ToolMessage message =
      message_table().message("missing_activations", model.repaired() ? missing : linear);
  for (program::FaultEntry& fault : message.faults) fault.layers = missing;
  if (missing.empty()) {
    message = ignored(std::move(message), "a layer of its own holds the activation");
  }
  say(found, std::move(message), model);
}

void check_final_activation(const Model& model, std::vector<ToolMessage>& found) {
  const int layer = model.ends_with_softmax_layer() ? model.last() - 1 : model.last();
  if (layer < 0) return;
  const std::string activation = model.activation(layer);
  if (activation.empty() || activation == "linear") return;
  ToolMessage message =
      message_table().message("activation_final_layer", {layer}, "activation " + activation);
  if (activation == "softmax") message = ignored(std::move(message), kSoftmaxAlready);
  // It asks for none, before a softmax that is there or that another message asks for.
  const bool none_fits = layer != model.last() || model.rules().allows_activation("softmax") ||
                         model.rules().allows_activation("linear");
  if (model.repaired() && !none_fits) return;
  say(found, std::move(message), model);
}

/// The value of an epoch's log; NaN where it isn't logged, so that no comparison holds.
double logged(const std::map<std::string, double>& logs, const char* name) {
  const auto it = logs.find(name);
  return it == logs.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("umlaut");
  return table;
}

std::vector<ToolMessage> check_program(const program::Program& program, ToolVariant variant,
                                       std::optional<program::DataInfo> data) {
  const Model model(program, variant, std::move(data));
  std::vector<ToolMessage> found;
  check_softmax(model, found);
  check_activations(model, found);
  check_final_activation(model, found);
  const std::set<int> dropouts = model.dropouts_above(message_table().threshold("dropout_rate"));
  if (!dropouts.empty()) found.push_back(message_table().message("high_dropout_rate", dropouts));
  if (model.repaired()) model.rules().keep_to_task(found);
  return found;
}

Input summary(const program::Shape& row, std::span<const float> values) {
  Input input{row, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (const float value : values) {
    if (std::isnan(value)) {
      input.min = input.max = value;
      return input;
    }
    input.min = std::min(input.min, value);
    input.max = std::max(input.max, value);
  }
  return input;
}

std::vector<ToolMessage> check_epoch(const Epoch& epoch) {
  const MessageTable& table = message_table();
  const auto limit = [&](const char* name) { return table.threshold(name); };
  std::vector<ToolMessage> found;
  const auto add = [&](const char* code, const std::string& detail = "") {
    found.push_back(table.message(code, {}, detail));
    found.back().epochs = {epoch.number};
  };

  const Input& input = epoch.input;
  if (input.row.size() == 3 && input.row[0] != input.row[1]) {
    add("input_wrong_shape", "rows of shape " + program::to_string(input.row));
  }
  if (input.min < limit("input_min") || input.max > limit("input_max")) {
    add("input_normalization", "from " + shortest(input.min) + " to " + shortest(input.max));
  }
  if (!input.floating) add("input_not_floating");
  const double loss = logged(epoch.logs, "loss");
  if (epoch.logs.contains("loss") && std::isnan(loss) && std::isnan(input.min)) add("nan_input");

  // Keras holds the rate in single precision: 0.01 is a little less there.
  const double rate = static_cast<float>(epoch.learning_rate);
  if (rate > limit("learning_rate_high")) add("lr_high", shortest(epoch.learning_rate));
  if (rate < limit("learning_rate_low")) add("lr_low", shortest(epoch.learning_rate));

  const double loss_change = loss - logged(epoch.previous, "loss");
  const double validation_change =
      logged(epoch.logs, "val_loss") - logged(epoch.previous, "val_loss");
  if (validation_change > 0 && loss_change <= 0) {
    add("overfitting", "loss changed by " + shortest(loss_change) + ", validation loss by " +
                           shortest(validation_change));
  }

  const double accuracy = logged(epoch.logs, "accuracy");
  const double validation = logged(epoch.logs, "val_accuracy");
  if (static_cast<double>(epoch.number) >= limit("validation_first_epoch") &&
      (validation > limit("validation_accuracy") ||
       validation - accuracy > limit("validation_gap"))) {
    add("overconfident_val",
        "accuracy " + shortest(accuracy) + ", in validation " + shortest(validation));
  }
  return found;
}

namespace {

/// Runs the rules during a training.
class Watcher final : public training::Observer {
 public:
  Watcher(double learning_rate, ToolVariant variant, std::vector<ToolMessage>& messages)
      : variant_(variant), messages_(messages) {
    epoch_.learning_rate = learning_rate;
  }

  bool wants_validation() const override { return true; }

  void begin(const training::DataView& data, training::Probe&) override {
    std::span<const float> seen = data.training;
    if (variant_ == ToolVariant::kAsPublished && !data.validation.empty()) {
      // The tool keeps what went into the model last: the last batch of the validation.
      std::size_t width = 1;
      for (const std::int64_t n : data.row) width *= static_cast<std::size_t>(n);
      const std::size_t rows = data.validation.size() / width;
      const auto batch = static_cast<std::size_t>(data.batch_size);
      const std::size_t rest = rows % batch == 0 ? std::min(rows, batch) : rows % batch;
      seen = data.validation.last(rest * width);
    }
    epoch_.input = summary(data.row, seen);
  }

  void epoch_end(const training::EpochEvent& event) override {
    if (variant_ == ToolVariant::kAsPublished &&
        static_cast<double>(event.epoch) >= message_table().threshold("validation_first_epoch") &&
        !event.logs.contains("accuracy")) {
      crashed_ = event.epoch;  // before it prints what it found in this epoch
      return;
    }
    epoch_.number = event.epoch;
    epoch_.previous = std::exchange(epoch_.logs, event.logs);
    for (ToolMessage& message : check_epoch(epoch_)) record(messages_, std::move(message));
  }

  bool stop() override { return crashed_.has_value(); }
  /// The epoch at whose end the published tool breaks, since no accuracy is compiled.
  std::optional<std::int64_t> crashed() const { return crashed_; }

 private:
  ToolVariant variant_;
  std::vector<ToolMessage>& messages_;
  Epoch epoch_;
  std::optional<std::int64_t> crashed_;
};

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  Watch watch(context);
  Localisation result;
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return watch.finish(std::move(result), LocalisationStatus::kNotApplicable,
                        to_string(problems.front()));
  }
  const bool repaired = context.variant == ToolVariant::kRepaired;
  result.messages =
      check_program(faulty.program, context.variant,
                    repaired ? data_of(faulty.program, context.trainer) : std::nullopt);
  const Json optimizer = program::resolve(faulty.program).optimizer;
  Watcher watcher(optimizer.at("config").at("learning_rate"), context.variant, result.messages);
  const LocalisationStatus status = watch.train(faulty.program, watcher);
  if (const auto epoch = watcher.crashed()) {
    result.reason = "the tool breaks at the end of epoch " + std::to_string(*epoch) +
                    " (KeyError: 'val_accuracy'): the program compiles no accuracy; what it had "
                    "said by then counts";
  }
  return watch.finish(std::move(result), status, watch.reason());
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{"umlaut",
               "2022-05",
               ToolKind::kNative,
               {ToolNeed::kProgram, ToolNeed::kTraining},
               "static checks of the model and checks of losses, accuracies, input and rate after "
               "each epoch",
               "Schoop, Huang and Hartmann, UMLAUT: Debugging Deep Learning Programs using Program "
               "Structure "
               "and Model Behavior, CHI 2021; https://github.com/BerkeleyHCI/umlaut",
               localise,
               message_table}};
}

}  // namespace neutra::fl_adapters::umlaut
