#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/json.h"
#include "fl_adapters/task_rules.h"
#include "fl_adapters/thedeepchecker.h"
#include "fl_adapters/watch.h"
#include "program/edit.h"

namespace neutra::fl_adapters {
namespace thedeepchecker {
namespace {

std::size_t count_of(const char* threshold) {
  return static_cast<std::size_t>(message_table().threshold(threshold));
}

/// A layer as the tool sees it.
struct Part {
  std::string name;  ///< as programmed, else from class and index
  int index = 0;
  bool has_kernel = false, has_bias = false;
  std::size_t bias_variable = 1;  ///< of the layer; the kernel is 0
  std::string activation;         ///< "" unless it is one that the tool knows
  std::size_t neurons = 1;
  bool image = false;  ///< outputs of more than one extent
  std::int64_t fan_in = 1, fan_out = 1;
  bool image_kernel = false;
  double l1 = 0, l2 = 0;                         ///< of the kernel's regulariser
  int activation_layer = -1, weight_layer = -1;  ///< as in Place

  Place kernel() const { return place("kernel:0", image_kernel); }
  Place bias() const { return place("bias:0", image_kernel); }
  Place output() const { return place(activation, image); }

 private:
  Place place(const std::string& what, bool conv) const {
    return {index, name + "/" + what, conv, activation_layer, weight_layer};
  }
};

/// The name of an activation function that the tool knows, else "".
std::string known_activation(const program::ResolvedLayer& layer) {
  if (layer.class_name == "ReLU") {
    const Json* max_value = member(layer.config, "max_value");
    return max_value != nullptr && *max_value == 6 ? "relu6" : "relu";
  }
  if (layer.class_name == "ELU") return "elu";
  if (layer.class_name == "LeakyReLU") return "leaky_relu";
  const Json* activation = member(layer.config, "activation");
  if (activation == nullptr) return "";
  for (const char* known : {"relu", "elu", "sigmoid", "tanh", "selu"}) {
    if (*activation == known) return known;
  }
  return "";
}

/// The tool's view of a model.
struct Model {
  std::vector<Part> parts;  ///< one for each layer
  bool classification = true;
  bool sparse = false;  ///< targets are classes by number
  std::string metric;
  std::string first_activation;  ///< "leaky_relu" without any, as in the tool
  std::set<int> dropouts;
  bool has_modes = false;  ///< dropout or batch normalisation

  Model(program::Program program, const program::Shape& row) {
    Json& first = program::layers_of(program.document)[0]["config"];
    if (!first.contains("batch_input_shape") && !first.contains("input_shape")) {
      first["batch_input_shape"] = Json::array({nullptr});
      for (const std::int64_t extent : row) first["batch_input_shape"].push_back(extent);
    }
    const program::ResolvedProgram resolved = program::resolve(program);
    const Json& written = program::layers_of(program.document);
    classification = resolved.task == "classification";
    sparse = resolved.loss == "sparse_categorical_crossentropy";
    metric = resolved.metric;
    for (std::size_t i = 0; i < resolved.layers.size(); ++i) {
      parts.push_back(part_of(resolved.layers[i], written[i]));
      const Part& part = parts.back();
      if (first_activation.empty()) first_activation = part.activation;
      const std::string& name = resolved.layers[i].class_name;
      if (name == "Dropout") dropouts.insert(part.index);
      has_modes = has_modes || name == "Dropout" || name == "BatchNormalization";
    }
    if (first_activation.empty()) first_activation = "leaky_relu";
    connect(resolved);
  }

  /// The function that the tool takes a layer's activation for: one for the whole model.
  std::string taken_for(const Part& part, ToolVariant variant) const {
    return variant == ToolVariant::kAsPublished ? first_activation : part.activation;
  }

 private:
  /// Finds the weights of activations in layers of their own, and the other way round.
  void connect(const program::ResolvedProgram& resolved) {
    static const std::set<std::string> kActivations{"Activation", "ELU", "LeakyReLU", "ReLU",
                                                    "Softmax"};
    static const std::set<std::string> kBetween{"BatchNormalization", "Dropout"};
    Part* open = nullptr;  // weights that an activation may follow
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const program::ResolvedLayer& layer = resolved.layers[i];
      if (kActivations.contains(layer.class_name)) {
        if (open == nullptr) continue;
        open->activation_layer = layer.index;
        parts[i].weight_layer = open->index;
        open = nullptr;
      } else if (!kBetween.contains(layer.class_name)) {
        const Json* activation = member(layer.config, "activation");
        open = parts[i].has_kernel && activation != nullptr && *activation == "linear" ? &parts[i]
                                                                                       : nullptr;
      }
    }
  }

  static Part part_of(const program::ResolvedLayer& layer, const Json& written) {
    Part part;
    part.index = layer.index;
    const Json* settings = member(written, "config");
    const Json* name = settings != nullptr ? member(*settings, "name") : nullptr;
    part.name = name != nullptr && name->is_string()
                    ? name->get<std::string>()
                    : layer.class_name + "_" + std::to_string(layer.index);
    part.activation = known_activation(layer);
    part.neurons =
        layer.output_shape.empty() ? 1 : static_cast<std::size_t>(layer.output_shape.back());
    part.image = layer.output_shape.size() > 1;
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      const program::Weight& weight = layer.weights[k];
      if (weight.name == "bias") {
        part.has_bias = true;
        part.bias_variable = k;
      }
      if (weight.name != "kernel") continue;
      part.has_kernel = true;
      const program::Shape& shape = weight.shape;
      part.image_kernel = shape.size() > 2;
      std::int64_t field = 1;
      for (std::size_t i = 0; i + 2 < shape.size(); ++i) field *= shape[i];
      part.fan_in = shape[shape.size() - 2] * field;
      part.fan_out = shape.back() * field;
    }
    const Json* regularizer = member(layer.config, "kernel_regularizer");
    if (regularizer != nullptr && regularizer->is_object()) {
      const Json& config = regularizer->at("config");
      for (auto [field, value] : {std::pair{"l1", &part.l1}, std::pair{"l2", &part.l2}}) {
        const Json* found = member(config, field);
        if (found != nullptr && found->is_number()) *value = *found;
      }
    }
    return part;
  }
};

std::size_t width_of(const program::Shape& shape) {
  std::size_t width = 1;
  for (const std::int64_t extent : shape) width *= static_cast<std::size_t>(extent);
  return width;
}

void record_all(Messages& into, Messages messages) {
  for (ToolMessage& message : messages) record(into, std::move(message));
}

/// Watches the training of the program: the checks before and during it.
class ProgramWatcher final : public training::Observer {
 public:
  ProgramWatcher(const program::Program& program, ToolVariant variant, Messages& messages)
      : program_(program), variant_(variant), messages_(messages) {}

  void begin(const training::DataView& data, training::Probe& probe) override {
    model_.emplace(program_, data.row);
    const std::size_t row = width_of(data.row), target = width_of(data.target);
    const std::size_t rows = std::min(data.training.size() / row, count_of("sample_rows"));
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
        std::min({probe.max_rows(), all, static_cast<std::int64_t>(count_of("compared_rows"))})));
    for (std::size_t i = 0; i < compared_.size(); ++i) {
      compared_[i] =
          static_cast<std::int64_t>(i) * all / static_cast<std::int64_t>(compared_.size());
    }
  }

  void epoch_end(const training::EpochEvent& event) override {
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

 private:
  /// The debiased measure needs more than 3.
  static constexpr std::size_t kLeastRows = 4;

  void add(Messages messages) { record_all(messages_, std::move(messages)); }

  void check_weights(training::Probe& probe, const Targets& targets) {
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

  void check_loss(training::Probe& probe, const Targets& targets, std::span<const float> values,
                  std::size_t width) {
    const auto growth = static_cast<std::int64_t>(count_of("initial_loss_growth"));
    std::int64_t most = growth;
    while (most * growth <= growth * static_cast<std::int64_t>(count_of("initial_loss_growths"))) {
      most *= growth;
    }
    const std::int64_t wanted = static_cast<std::int64_t>(count_of("initial_loss_rows"));
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
    const std::vector<std::int64_t> rows = rows_of_all_classes(values, width, targets.shares.size(),
                                                               std::min(wanted, probe.max_rows()));
    add(check_initial_loss(probe.backward(rows).loss, targets));
  }

  /// As many rows of each class: the first ones.
  static std::vector<std::int64_t> rows_of_all_classes(std::span<const float> values,
                                                       std::size_t width, std::size_t classes,
                                                       std::int64_t most) {
    const std::int64_t each = std::max<std::int64_t>(1, most / static_cast<std::int64_t>(classes));
    std::vector<std::int64_t> taken(classes), rows;
    for (std::size_t row = 0; row * width < values.size(); ++row) {
      const std::span<const float> target = values.subspan(row * width, width);
      const std::size_t label =
          width == 1 ? class_of(target[0])
                     : static_cast<std::size_t>(std::max_element(target.begin(), target.end()) -
                                                target.begin());
      if (label >= classes || taken[label] >= each) continue;
      if (static_cast<std::int64_t>(rows.size()) == most) break;
      ++taken[label];
      rows.push_back(static_cast<std::int64_t>(row));
    }
    return rows.empty() ? std::vector<std::int64_t>{0} : rows;
  }

  const program::Program& program_;
  ToolVariant variant_;
  Messages& messages_;
  std::optional<Model> model_;
  std::vector<std::int64_t> compared_;  ///< rows seen in both modes
};

/// Keeps losses and performance of a training on a few rows.
class FitWatcher final : public training::Observer {
 public:
  explicit FitWatcher(std::string metric) : metric_(std::move(metric)) {}
  training::BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return training::BatchDetail::kLogs;
  }
  void batch_end(const training::BatchEvent& event) override {
    fit.losses.push_back(event.loss);
    const auto it = event.logs.find(metric_);
    fit.performance.push_back(it == event.logs.end() ? event.loss : it->second);
  }
  bool stop() override { return !fit.losses.empty() && !std::isfinite(fit.losses.back()); }

  Fit fit;

 private:
  std::string metric_;
};

/// Watches a training on one batch, each epoch one iteration.
class OverfitWatcher final : public training::Observer {
 public:
  OverfitWatcher(const program::Program& program, ToolVariant variant, Messages& messages)
      : program_(program), variant_(variant), messages_(messages) {}

  void begin(const training::DataView& data, training::Probe& probe) override {
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
    const std::size_t target = width_of(data.target);
    Place place = model_->parts.back().output();
    outputs_.emplace(
        place, targets_of(data.training_targets, target, model_->classification, model_->sparse));
    outputs_width_ = answer.outputs.size();
  }

  training::BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return training::BatchDetail::kActivations;
  }

  void batch_end(const training::BatchEvent& event) override {
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

  bool stop() override { return patience_ == 0; }

 private:
  struct Checks {
    WeightCheck weight, bias;
    GradientCheck gradient;
    RegularizationCheck regularization;
    ActivationCheck activation;
    std::vector<float> kernel;  ///< before the update
  };

  static void keep(std::vector<float>& copy, std::span<const float> values) {
    copy.assign(values.begin(), values.end());
  }

  template <typename Function>
  void for_kernels(const training::BatchEvent& event, Function function) {
    for (std::size_t i = 0; i < model_->parts.size(); ++i) {
      if (model_->parts[i].has_kernel) function(i, event.layers[i]);
    }
  }

  /// Norm of the regulariser's gradient over that of the rest.
  static double regularization_ratio(const Part& part, const std::vector<float>& kernel,
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

  void count_down(double performance) {
    const bool perfect = model_->classification
                             ? performance == message_table().threshold("perfect_accuracy")
                             : performance < message_table().threshold("perfect_error");
    patience_ = perfect ? patience_ - 1 : static_cast<int>(count_of("patience"));
  }

  const program::Program& program_;
  ToolVariant variant_;
  Messages& messages_;
  std::optional<Model> model_;
  std::vector<Checks> checks_;
  std::optional<OutputCheck> outputs_;
  std::size_t outputs_width_ = 1;
  LossCheck loss_;
  int patience_ = static_cast<int>(count_of("patience"));
};

/// The program on a few of its training rows, all in one batch, an iteration for each epoch.
program::Program on_rows(program::Program program, const char* rows, const char* iterations,
                         bool zeroed = false) {
  Json& data = program.document["data"];
  data.erase("validation");
  // Mutations come after these steps: few rows may refuse them, or become more.
  data.erase("mutations");
  Json& steps = data["preprocess"];
  if (!steps.is_array()) steps = Json::array();
  // Data may be sorted by class.
  steps.push_back({{"op", "shuffle"}, {"seed", 42}, {"part", "train"}});
  steps.push_back({{"op", "take"}, {"rows", count_of(rows)}, {"part", "train"}});
  // No single-precision number is as small as what is left.
  if (zeroed) steps.push_back({{"op", "scale"}, {"on", "x"}, {"by", 1e300}, {"part", "train"}});
  Json& fit = program.document["fit"];
  fit.erase("validation_split");
  fit.erase("callbacks");
  fit["batch_size"] = count_of(rows);
  fit["epochs"] = count_of(iterations);
  return program;
}

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  Watch watch(context);
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return watch.finish({}, LocalisationStatus::kNotApplicable, to_string(problems.front()));
  }
  const program::ResolvedProgram resolved = program::resolve(faulty.program);
  Localisation result;
  // The tool's order: before the training, one batch, the training. The watcher of the training
  // says both the first and the last.
  Messages of_program, of_batch;
  ProgramWatcher of_training(faulty.program, context.variant, of_program);
  LocalisationStatus status = watch.train(faulty.program, of_training);

  if (status == LocalisationStatus::kOk) {
    FitWatcher watcher(resolved.metric);
    watcher.fit.classification = resolved.task == "classification";
    status = watch.train(on_rows(faulty.program, "fit_rows", "fit_iterations"), watcher);
    if (status == LocalisationStatus::kOk) {
      Messages found = check_fit(watcher.fit, context.variant);
      for (ToolMessage& message : found) {
        message.said = message.epochs.empty() ? Said::kAfterTraining : Said::kInIterations;
      }
      record_all(of_batch, found);
      const bool underfits = std::any_of(found.begin(), found.end(), [](const ToolMessage& m) {
        return m.code == "underfitting_single_batch" && m.epochs.empty();
      });
      const bool reaches_zero = std::any_of(
          found.begin(), found.end(), [](const ToolMessage& m) { return m.code == "zero_loss"; });
      // The published tool compares losses only where one isn't finite, and has returned then.
      if (context.variant == ToolVariant::kRepaired && underfits && !reaches_zero) {
        FitWatcher zeroed(resolved.metric);
        status = watch.train(on_rows(faulty.program, "fit_rows", "fit_iterations", true), zeroed);
        if (status == LocalisationStatus::kOk &&
            zeroed.fit.losses.size() == watcher.fit.losses.size()) {
          for (ToolMessage& message :
               check_data_dependence(watcher.fit.losses, zeroed.fit.losses)) {
            message.said = Said::kAfterTraining;
            record(of_batch, std::move(message));
          }
        }
      }
    }
  }
  if (status == LocalisationStatus::kOk) {
    OverfitWatcher watcher(faulty.program, context.variant, of_batch);
    status = watch.train(on_rows(faulty.program, "overfit_rows", "overfit_iterations"), watcher);
  }
  for (const bool before : {true, false}) {
    for (const ToolMessage& message : of_program) {
      if (message.epochs.empty() == before) result.messages.push_back(message);
    }
    if (before) {
      result.messages.insert(result.messages.end(), of_batch.begin(), of_batch.end());
    }
  }
  if (context.variant == ToolVariant::kRepaired) {
    TaskRules(faulty.program, data_of(faulty.program, context.trainer))
        .keep_to_task(result.messages);
  }
  return watch.finish(std::move(result), status, watch.reason());
}

}  // namespace
}  // namespace thedeepchecker

extern const Tool thedeepchecker_tool{
    "thedeepchecker",
    "2022-11",
    ToolKind::kNative,
    {ToolNeed::kProgram, ToolNeed::kTraining},
    "checks data, weights and loss before the training, a fit of one batch, and dropout's effect",
    "Ben Braiek and Khomh, Testing Feedforward Neural Networks Training Programs, TOSEM 2023; "
    "https://github.com/thedeepchecker/thedeepchecker",
    thedeepchecker::localise,
    thedeepchecker::message_table};

}  // namespace neutra::fl_adapters
