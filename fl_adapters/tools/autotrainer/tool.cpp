#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "fl_adapters/tools/autotrainer/problems.h"
#include "fl_adapters/tools/autotrainer/repairs.h"
#include "fl_adapters/watch.h"

namespace neutra::fl_adapters::autotrainer {
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

std::vector<Tool> tools() {
  return {Tool{
      "autotrainer",
      "2023-12",
      ToolKind::kNative,
      {ToolNeed::kProgram, ToolNeed::kTraining},
      "checks losses, accuracies, gradients and outputs every 3 epochs; suggests repairs in order",
      "Zhang, Zhai, Ma and Shen, AUTOTRAINER: An Automatic DNN Training Problem Detection and "
      "Repair "
      "System, ICSE 2021; https://github.com/shiningrain/AUTOTRAINER",
      localise,
      message_table}};
}

}  // namespace neutra::fl_adapters::autotrainer
