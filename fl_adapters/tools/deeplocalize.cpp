#include "fl_adapters/tools/deeplocalize.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"

namespace neutra::fl_adapters::deeplocalize {

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("deeplocalize");
  return table;
}

Checker::Checker(CallbackModel model)
    : model_(std::move(model)),
      forward_(model_.layers.size()),
      weights_(model_.layers.size()),
      delta_weights_(model_.layers.size()),
      output_gradients_(model_.layers.size()) {}

/// Adds a mean to its series; what is wrong with it, or nothing.
std::string Checker::trouble(Series& series, const Mean& mean) const {
  series.window.push_back(mean.value);
  if (!std::isfinite(mean.value)) return "mean " + shortest(mean.value);
  if (!model_.is_zero(mean)) return "";
  ++series.zeros;
  const double share = static_cast<double>(series.zeros) / static_cast<double>(batches_);
  if (share < message_table().threshold("zero_share")) return "";
  return "mean 0 in " + std::to_string(series.zeros) + " of " + std::to_string(batches_) +
         " batches";
}

/// Looks back over a window and forgets it.
std::string Checker::standstill(Series& series) const {
  const std::vector<float> window = std::exchange(series.window, {});
  if (!mean_is_max(std::span(window))) return "";
  return "unchanged in " + std::to_string(window.size()) + " batches";
}

Finding Checker::found(const char* code, const BatchTrace& batch, std::string detail,
                       std::optional<std::size_t> layer) const {
  Finding finding;
  finding.messages.push_back(
      callback_message(message_table(), code, batch.epoch, batch.batch, model_, layer));
  finding.messages.back().detail = std::move(detail);
  return finding;
}

Finding Checker::check(const BatchTrace& batch) {
  ++batches_;
  looks_back_ = batches_ % static_cast<std::int64_t>(message_table().threshold("window")) == 0;
  for (const auto rules : {&Checker::forward, &Checker::weights, &Checker::metrics,
                           &Checker::delta_weights, &Checker::output_gradients}) {
    if (Finding finding = (this->*rules)(batch); finding.stops()) return finding;
  }
  return {};
}

Finding Checker::forward(const BatchTrace& batch) {
  for (std::size_t i = 0; i < model_.layers.size(); ++i) {
    std::string why = trouble(forward_[i], batch.layers[i].outputs);
    if (!why.empty()) return found("forward", batch, std::move(why), i);
  }
  for (std::size_t i = 0; looks_back_ && i < model_.layers.size(); ++i) {
    std::string why = standstill(forward_[i]);
    if (why.empty() || model_.layers[i].flatten || !model_.should_move(i)) continue;
    return found("forward", batch, why, i);
  }
  return {};
}

Finding Checker::weights(const BatchTrace& batch) {
  for (const LayerTrace& layer : batch.layers) {
    std::string error = model_.repaired ? "" : unpacking_error(layer.weights);
    if (!error.empty()) return {{}, std::move(error)};
  }
  for (std::size_t i = model_.layers.size(); i-- > 0;) {
    if (!batch.layers[i].kernel) continue;
    std::string why = trouble(weights_[i], *batch.layers[i].kernel);
    if (!why.empty()) return found("weights", batch, std::move(why), i);
  }
  for (std::size_t i = model_.layers.size(); looks_back_ && i-- > 0;) {
    std::string why = standstill(weights_[i]);
    if (why.empty() || !model_.layers[i].dense || !model_.should_move(i)) continue;
    return found("weights", batch, why, i);
  }
  return {};
}

Finding Checker::metrics(const BatchTrace& batch) {
  loss_.window.push_back(batch.loss);
  if (!std::isfinite(batch.loss)) return found("invalid_loss", batch, shortest(batch.loss));
  if (looks_back_) {
    const std::string why = standstill(loss_);
    if (!why.empty()) return found("mdl", batch, "loss " + why);
  }
  if (!batch.accuracy) return {};
  accuracy_.window.push_back(*batch.accuracy);
  if (!std::isfinite(*batch.accuracy)) {
    return found("invalid_accuracy", batch, shortest(*batch.accuracy));
  }
  if (looks_back_) {
    const std::string why = standstill(accuracy_);
    if (!why.empty()) return found("mdl", batch, "accuracy " + why);
  }
  return {};
}

Finding Checker::delta_weights(const BatchTrace& batch) {
  std::vector<bool> has_weights;
  for (const LayerTrace& layer : batch.layers) has_weights.push_back(layer.gradient.has_value());
  const auto sources = model_.gradient_sources(has_weights);
  for (std::size_t i = model_.layers.size(); i-- > 0;) {
    if (!sources[i]) continue;
    std::string why = trouble(delta_weights_[i], *batch.layers[*sources[i]].gradient);
    if (!why.empty()) return found("delta_weights", batch, std::move(why), i);
  }
  for (std::size_t i = model_.layers.size(); looks_back_ && i-- > 0;) {
    std::string why = standstill(delta_weights_[i]);
    if (why.empty() || !model_.should_move(i)) continue;
    return found("unchanged_delta_weights", batch, why, i);
  }
  return {};
}

Finding Checker::output_gradients(const BatchTrace& batch) {
  for (std::size_t i = model_.layers.size(); i-- > 0;) {
    if (!batch.layers[i].output_gradient) continue;
    std::string why = trouble(output_gradients_[i], *batch.layers[i].output_gradient);
    if (!why.empty()) return found("output_gradient", batch, std::move(why), i);
  }
  for (std::size_t i = model_.layers.size(); looks_back_ && i-- > 0;) {
    std::string why = standstill(output_gradients_[i]);
    if (why.empty() || model_.layers[i].flatten || !model_.should_move(i)) continue;
    return found("output_gradient", batch, why, i);
  }
  return {};
}

namespace {

/// Makes the tool's traces of a training. After each batch the tool asks the model, with its new
/// weights, for outputs and gradients: here the next step brings them, on its own rows and with
/// dropout.
class Watcher final : public training::Observer {
 public:
  Watcher(CallbackModel model, std::function<Finding(const BatchTrace&)> check)
      : model_(std::move(model)), check_(std::move(check)) {}

  bool wants_output_gradients() const override { return true; }

  void begin(const training::DataView& data, training::Probe&) override {
    std::size_t width = 1;
    for (const std::int64_t n : data.row) width *= static_cast<std::size_t>(n);
    rows_ = static_cast<std::int64_t>(data.training.size() / width);
    batch_size_ = data.batch_size;
  }

  training::BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return training::BatchDetail::kActivations;
  }

  void batch_end(const training::BatchEvent& event) override {
    const Views views = views_of(event.layers);
    if (pending_) complete(views);
    if (stops_) return;
    const bool continues = pending_ && pending_->epoch == event.epoch;
    BatchTrace next;
    next.epoch = event.epoch;
    next.batch = continues ? pending_->batch + 1 : 0;
    next.loss = static_cast<float>(event.loss);
    next.accuracy = accuracy(event, next.batch == 0, views.back()->activations.size());
    next.layers.resize(model_.layers.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
      next.layers[i].weights = views[i]->weights.size();
      if (!views[i]->weights.empty()) next.layers[i].kernel = mean_of(views[i]->weights.front());
    }
    pending_ = std::move(next);
  }

  bool stop() override { return stops_; }

  void end(training::Probe& probe) override {
    if (!pending_ || stops_) return;
    std::vector<std::int64_t> rows;
    for (std::int64_t row = pending_->batch * batch_size_;
         row < std::min(rows_, (pending_->batch + 1) * batch_size_); ++row) {
      rows.push_back(row);
    }
    if (rows.empty()) return;
    const training::Probe::Answer answer = probe.backward(rows);
    complete(views_of(answer.layers));
  }

 private:
  using Views = std::vector<const training::LayerView*>;
  Views views_of(std::span<const training::LayerView> all) const {
    Views views;
    for (const CallbackModel::Layer& layer : model_.layers) {
      views.push_back(&all[static_cast<std::size_t>(layer.index)]);
    }
    return views;
  }

  /// The batch's own accuracy, out of that of the epoch so far: as the share of a whole number.
  std::optional<float> accuracy(const training::BatchEvent& event, bool first,
                                std::size_t outputs) {
    const auto it = event.logs.find("accuracy");
    if (it == event.logs.end()) return {};
    const auto rows = static_cast<double>(event.rows);
    if (first) seen_rows_ = right_ = 0;
    seen_rows_ += rows;
    const double each = static_cast<double>(outputs) / rows;  // binary accuracy: over all outputs
    const double right = std::round(it->second * seen_rows_ * each);
    return static_cast<float>((right - std::exchange(right_, right)) / (rows * each));
  }

  /// What the step after the pending batch saw.
  void complete(const Views& views) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      LayerTrace& layer = pending_->layers[i];
      layer.outputs = mean_of(views[i]->activations);
      if (!views[i]->gradients.empty()) layer.gradient = mean_of(views[i]->gradients.front());
      if (!views[i]->output_gradient.empty()) {
        layer.output_gradient = mean_of(views[i]->output_gradient);
      }
    }
    stops_ = check_(*pending_).stops();
  }

  CallbackModel model_;
  std::function<Finding(const BatchTrace&)> check_;
  bool stops_ = false;
  std::int64_t rows_ = 0, batch_size_ = 0;
  double seen_rows_ = 0, right_ = 0;   ///< in this epoch
  std::optional<BatchTrace> pending_;  ///< the last batch
};

}  // namespace

std::unique_ptr<training::Observer> make_watcher(CallbackModel model,
                                                 std::function<Finding(const BatchTrace&)> check) {
  return std::make_unique<Watcher>(std::move(model), std::move(check));
}

namespace {

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  std::optional<Checker> checker;
  Localisation result = run_callback(faulty, context, [&](Finding& finding) {
    CallbackModel model = callback_model(faulty.program, context.variant);
    checker.emplace(model);
    return make_watcher(std::move(model),
                        [&](const BatchTrace& batch) { return finding = checker->check(batch); });
  });
  for (const ToolMessage& message : result.messages) {
    for (const int layer : message.layers) result.ranking.push_back({layer, -1, "", 1});
  }
  return result;
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{
      "deeplocalize",
      "2021-02",
      ToolKind::kNative,
      {ToolNeed::kTraining},
      "means of outputs, weights, gradients and losses after each batch; stops at the first error",
      "Wardat, Le and Rajan, DeepLocalize: Fault Localization for Deep Neural Networks, ICSE 2021; "
      "https://github.com/Wardat-ISU/DeepLocalize",
      localise,
      message_table,
      true}};
}

}  // namespace neutra::fl_adapters::deeplocalize
