#include "training/loop.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "program/vocabulary.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

std::span<const float> values(const Array& array, const Rows& rows) {
  const auto width = static_cast<std::size_t>(array.row_size());
  return std::span(array.values)
      .subspan(static_cast<std::size_t>(rows.begin) * width,
               static_cast<std::size_t>(rows.count()) * width);
}

}  // namespace

class TrainingLoop::EngineProbe final : public Probe {
 public:
  explicit EngineProbe(TrainingLoop& loop) : loop_(loop) {}

  Answer forward(std::span<const std::int64_t> rows) override {
    check(rows);
    return answer(loop_.engine_.look(rows), false);
  }
  Answer backward(std::span<const std::int64_t> rows) override {
    check(rows);
    // Batch normalisation moves its averages.
    std::vector<std::pair<Extent, std::vector<float>>> kept;
    for (std::size_t i = 0; i < loop_.program_.layers.size(); ++i) {
      for (const Weights::Variable& variable : loop_.engine_.weights().of_layer(i)) {
        if (variable.trainable) continue;
        const std::span<const float> values = variable.extent.of(loop_.engine_.weights().all());
        kept.emplace_back(variable.extent, std::vector<float>(values.begin(), values.end()));
      }
    }
    const double loss =
        loop_.engine_.gradients(rows, static_cast<std::uint32_t>(loop_.steps_), loop_.all());
    for (const auto& [extent, values] : kept) {
      std::copy(values.begin(), values.end(), extent.of(loop_.engine_.weights().all()).begin());
    }
    return answer(loss, true);
  }
  std::int64_t max_rows() const override {
    return std::min(loop_.program_.batch_size, loop_.rows_.training.count());
  }

 private:
  void check([[maybe_unused]] std::span<const std::int64_t> rows) const {
    assert(!rows.empty() && static_cast<std::int64_t>(rows.size()) <= max_rows());
    assert(std::all_of(rows.begin(), rows.end(), [&](std::int64_t row) {
      return row >= 0 && row < loop_.rows_.training.count();
    }));
  }
  Answer answer(double loss, bool gradients) {
    return {loop_.views(gradients, true), loss, loop_.engine_.output().values,
            loop_.engine_.targets().values};
  }
  TrainingLoop& loop_;
};

TrainingRows training_rows(const program::ResolvedProgram& program, const Dataset& data,
                           const SparseDataset& sparse) {
  const auto view = [](const std::optional<SparseRows>& rows) { return rows ? &*rows : nullptr; };
  const std::int64_t n = data.x_train.rows();
  const auto used =
      static_cast<std::int64_t>(static_cast<double>(n) * (1 - program.validation_split));
  TrainingRows rows;
  const auto weights = [](const Array& array) { return array.values.empty() ? nullptr : &array; };
  rows.training = {&data.x_train, &data.y_train,        0,
                   used,          view(sparse.x_train), weights(data.weights_train)};
  // In tf.keras 2.4 validation_split takes the place of other validation data.
  rows.validation = used < n ? Rows{&data.x_train,        &data.y_train,        used, n,
                                    view(sparse.x_train), rows.training.weights}
                             : Rows{&data.x_validation,
                                    &data.y_validation,
                                    0,
                                    data.x_validation.rows(),
                                    view(sparse.x_validation),
                                    weights(data.weights_validation)};
  rows.test = {&data.x_test, &data.y_test, 0, data.x_test.rows(), view(sparse.x_test)};
  rows.holdout = {&data.x_holdout, &data.y_holdout, 0, data.x_holdout.rows(),
                  view(sparse.x_holdout)};
  return rows;
}

RandomKey evaluation_key(RandomKey key) {
  constexpr auto kAtTheEnd = std::numeric_limits<std::uint32_t>::max();
  return derived_key({key, Stream::kEvaluation, 0, kAtTheEnd});
}

std::size_t TrainingLoop::state_bytes() {
  const auto states = static_cast<std::size_t>(optimizer_states(program_.optimizer));
  return engine_.weights().all().size() * (1 + states) * sizeof(float) +
         engine_.kept_gradients().size_bytes() + sizeof(TrainingState);
}

std::size_t TrainingState::bytes() const {
  std::size_t floats = weights.size() + gradients.size();
  for (const std::vector<float>& values : optimizer.accumulators) floats += values.size();
  return floats * sizeof(float) + sizeof(TrainingState);
}

TrainingLoop::TrainingLoop(const program::ResolvedProgram& program, const TrainingRows& rows,
                           RandomKey key, Engine& engine, Options options, Observer* observer)
    : program_(program),
      rows_(rows),
      key_(key),
      engine_(engine),
      options_(std::move(options)),
      observer_(observer),
      callbacks_(program.callbacks),
      order_(static_cast<std::size_t>(rows.training.count())) {
  for (const program::Entry& metric : program::entries(program::Vocabulary::kMetric)) {
    if (metric.name == "loss") continue;  // always there
    if (callbacks_.monitors(metric.name)) logged_.push_back(metric.name);
  }
  if (observer && program.metric != "loss" && !callbacks_.monitors(program.metric)) {
    logged_.push_back(program.metric);
  }
  for (const std::string& metric : options_.compiled) {
    const bool known = std::find(logged_.begin(), logged_.end(), metric) != logged_.end();
    if (observer && !known) logged_.push_back(metric);
  }
  // Without inference mode a validation moves averages.
  if (!observer && !callbacks_.monitors_validation() && program.loop.eval_mode) {
    rows_.validation = {};
  }
  std::iota(order_.begin(), order_.end(), std::int64_t{0});
  if (observer_) {
    if (rows_.validation.count() == 0 && observer_->wants_validation()) {
      rows_.validation = rows_.test;
      validates_on_test_ = true;
    }
    DataView view;
    view.row = program_.input_shape;
    view.training = values(*rows_.training.x, rows_.training);
    view.training_targets = values(*rows_.training.y, rows_.training);
    const program::Shape& targets = rows_.training.y->extents;
    view.target =
        targets.size() > 1 ? program::Shape(targets.begin() + 1, targets.end()) : program::Shape{1};
    if (rows_.validation.count() > 0) {
      view.validation = values(*rows_.validation.x, rows_.validation);
      view.validation_targets = values(*rows_.validation.y, rows_.validation);
    }
    view.batch_size = program_.batch_size;
    view.epochs = program_.epochs;
    EngineProbe probe(*this);
    observer_->begin(view, probe);
  }
}

bool TrainingLoop::has_prefixes() const {
  return !observer_ && !callbacks_.watch_epochs() && !callbacks_.terminate_on_nan &&
         program_.loop.eval_mode;
}

void TrainingLoop::resume(const TrainingState& state) {
  epoch_ = state.epochs;
  steps_ = state.steps;
  samples_ = state.samples;
  std::copy(state.weights.begin(), state.weights.end(), engine_.weights().all().begin());
  std::copy(state.gradients.begin(), state.gradients.end(), engine_.kept_gradients().begin());
  engine_.optimizer().restore(state.optimizer);
}

TrainingState TrainingLoop::state() {
  const std::span<const float> weights = engine_.weights().all(),
                               gradients = engine_.kept_gradients();
  return {epoch_,
          steps_,
          samples_,
          {weights.begin(), weights.end()},
          {gradients.begin(), gradients.end()},
          engine_.optimizer().state()};
}

bool TrainingLoop::run(const TrainingJob& job, std::chrono::steady_clock::time_point start,
                       std::int64_t epochs, ReplicaResult& result) {
  const auto rows = static_cast<std::int64_t>(order_.size());
  bool stop = false;
  for (; epoch_ < epochs && !stop;) {
    if (program_.shuffle) {
      fill_permutation({key_, Stream::kShuffle, 0, static_cast<std::uint32_t>(epoch_)}, order_);
    }
    begin_epoch();
    for (std::int64_t begin = 0; begin < rows && !stop; begin += program_.batch_size) {
      if (job.time_limit > 0 &&
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
              job.time_limit) {
        result.status = RunStatus::kTimeout;
        result.message = "ran past its time limit in epoch " + std::to_string(epoch_ + 1);
        return false;
      }
      if (job.stop && job.stop->load(std::memory_order_relaxed)) {
        throw Error(Exit::kInterrupted, "interrupted");
      }
      const auto count = static_cast<std::size_t>(std::min(program_.batch_size, rows - begin));
      stop = step(
          std::span<const std::int64_t>(order_).subspan(static_cast<std::size_t>(begin), count));
      ++steps_;
      samples_ += static_cast<std::int64_t>(count);
      result.steps = steps_;
      result.samples = samples_;
    }
    stop = end_epoch() || stop;
    ++epoch_;
    if (options_.skip_dead_epochs && !stop && !observer_ && callbacks_.early_stopping.empty() &&
        program_.loop.eval_mode && engine_.optimizer().keeps_nan() && engine_.weights().all_nan()) {
      result.epochs_saved = program_.epochs - epoch_;
      return false;
    }
  }
  return !stop;
}

void TrainingLoop::finish() {
  for (const EarlyStopping& callback : callbacks_.early_stopping) {
    const std::span<const float> best = callback.restored();
    std::copy(best.begin(), best.end(), engine_.weights().all().begin());
  }
  if (observer_) {
    EngineProbe probe(*this);
    observer_->end(probe);
  }
}

bool TrainingLoop::needs_loss() const {
  return observer_ || callbacks_.terminate_on_nan || callbacks_.monitors("loss");
}

void TrainingLoop::begin_epoch() {
  engine_.begin_epoch(epoch_);
  loss_sum_ = 0;
  rows_seen_ = 0;
  metrics_ = logged_metrics();
}

TrainingLoop::Metrics TrainingLoop::logged_metrics() const {
  Metrics metrics;
  for (const std::string& name : logged_) {
    metrics.emplace(name,
                    Metric(metric_of(options_.keras, name, program_.loss), rows_.target_scale));
  }
  return metrics;
}

Engine::Wanted TrainingLoop::all() const {
  return {true, true, true, observer_ && observer_->wants_output_gradients()};
}

/// True: stop the training.
bool TrainingLoop::step(std::span<const std::int64_t> rows) {
  const BatchDetail detail =
      observer_ ? observer_->batch_detail(epoch_, steps_) : BatchDetail::kNone;
  const double loss =
      engine_.step(rows, static_cast<std::uint32_t>(steps_),
                   detail == BatchDetail::kActivations
                       ? all()
                       : Engine::Wanted{needs_loss(), !metrics_.empty(), false, false});
  const auto count = static_cast<std::int64_t>(rows.size());
  loss_sum_ += loss * static_cast<double>(count);
  rows_seen_ += count;
  if (!metrics_.empty()) {
    const Batch output = engine_.output(), targets = engine_.targets();
    for (auto& [name, metric] : metrics_) metric.add(output, targets);
  }
  if (detail != BatchDetail::kNone) {
    std::vector<LayerView> layers;
    if (detail >= BatchDetail::kWeights) layers = views(true, detail == BatchDetail::kActivations);
    EngineProbe probe(*this);
    observer_->batch_end({epoch_, steps_, count, loss, logs(false), layers, &probe});
  }
  if (observer_ && observer_->stop()) return true;
  return callbacks_.terminate_on_nan && !std::isfinite(loss);
}

std::vector<LayerView> TrainingLoop::views(bool gradients, bool activations) {
  Weights& weights = engine_.weights();
  std::vector<std::span<const float>> outputs, output_gradients;
  if (activations) outputs = engine_.activations();
  if (activations && gradients) output_gradients = engine_.output_gradients();
  std::vector<LayerView> views;
  for (std::size_t i = 0; i < program_.layers.size(); ++i) {
    LayerView view;
    view.index = program_.layers[i].index;
    view.class_name = program_.layers[i].class_name;
    for (const Weights::Variable& variable : weights.of_layer(i)) {
      view.weights.push_back(variable.extent.of(weights.all()));
      if (gradients && variable.trainable) {
        view.gradients.push_back(variable.extent.of(weights.gradients()));
      }
    }
    if (activations) view.activations = outputs[i];
    if (!output_gradients.empty()) view.output_gradient = output_gradients[i];
    views.push_back(std::move(view));
  }
  return views;
}

Logs TrainingLoop::logs(bool whole) const {
  Logs logs;
  if (needs_loss()) logs["loss"] = loss_sum_ / static_cast<double>(rows_seen_);
  for (const auto& [name, metric] : metrics_) {
    if (whole || !metric.sorts()) logs[name] = metric.value();
  }
  return logs;
}

/// Adds the values of the validation rows.
void TrainingLoop::validate(Logs& logs) {
  Metrics metrics = logged_metrics();
  const RandomKey key =
      derived_key({key_, Stream::kEvaluation, 0, static_cast<std::uint32_t>(epoch_)});
  logs["val_loss"] = evaluate(
      rows_.validation,
      [&](const Batch& outputs, const Batch& targets) {
        for (auto& [name, metric] : metrics) metric.add(outputs, targets);
      },
      program_.batch_size, key, !validates_on_test_);
  for (const auto& [name, metric] : metrics) logs["val_" + name] = metric.value();
}

double TrainingLoop::evaluate(const Rows& rows, const OutputListener& listener,
                              std::int64_t loss_rows, RandomKey key, bool moves) {
  if (program_.loop.eval_mode || rows.count() == 0) {
    return engine_.evaluate(rows, listener, loss_rows);
  }
  const program::ResolvedProgram program = without_initial_values(program_);
  const std::unique_ptr<Engine> twin = engine_.twin(program, rows, key);
  const std::span<float> weights = engine_.weights().all(), copies = twin->weights().all();
  std::copy(weights.begin(), weights.end(), copies.begin());
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.count()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  double sum = 0;
  std::uint32_t batch = 0;
  for (std::span<const std::int64_t> left = order; !left.empty(); ++batch) {
    const std::size_t count = std::min(static_cast<std::size_t>(program.batch_size), left.size());
    const double loss =
        twin->gradients(left.first(count), batch, {true, listener != nullptr, false});
    left = left.subspan(count);
    sum += loss * static_cast<double>(count);
    if (listener) listener(twin->output(), twin->targets());
  }
  if (moves) std::copy(copies.begin(), copies.end(), weights.begin());
  return sum / static_cast<double>(rows.count());
}

bool TrainingLoop::end_epoch() {
  if (!observer_ && !callbacks_.watch_epochs() && program_.loop.eval_mode) return false;
  Logs logs = this->logs(true);
  if (rows_.validation.count() > 0 && !validates_on_test_) validate(logs);
  bool stop = false;
  for (EarlyStopping& callback : callbacks_.early_stopping) {
    stop = callback.epoch_end(logs, engine_.weights().all()) || stop;
  }
  for (ReduceOnPlateau& callback : callbacks_.plateaus) {
    const double initial = program_.optimizer.at("config").at("learning_rate");
    if (initial == 0) break;
    reduced_ = callback.epoch_end(logs, initial * reduced_) / initial;
    engine_.optimizer().reduce_rate(reduced_);
  }
  if (observer_) {
    // After the callbacks: an observer changes nothing.
    if (validates_on_test_) validate(logs);
    const std::vector<LayerView> layers = views(false, false);
    EngineProbe probe(*this);
    observer_->epoch_end({epoch_, logs, layers, &probe});
    stop = observer_->stop() || stop;
  }
  return stop;
}

void TrainingLoop::measure(ReplicaResult& result, std::vector<float>* outputs) {
  constexpr std::int64_t kEvaluateRows = 32;  // batch size of Keras's evaluate
  const RandomKey key = evaluation_key(key_);
  const auto keep = [&](const Batch& batch) {
    if (outputs) outputs->insert(outputs->end(), batch.values.begin(), batch.values.end());
  };
  if (outputs) outputs->clear();
  if (program_.metric == "loss") {
    result.metric = evaluate(
        rows_.holdout, [&](const Batch& batch, const Batch&) { keep(batch); }, kEvaluateRows, key,
        true);
  } else {
    Metric metric(program_.metric, rows_.target_scale);
    evaluate(
        rows_.holdout,
        [&](const Batch& batch, const Batch& targets) {
          metric.add(batch, targets);
          keep(batch);
        },
        0, key, true);
    result.metric = metric.value();
    result.correct = metric.correct();
    result.total = metric.total();
  }
  result.status = RunStatus::kOk;
  result.message.clear();
  if (!std::isfinite(result.metric) || !engine_.weights().all_finite()) {
    result.status = RunStatus::kDiverged;
    result.message = "weights or metric are not finite";
  }
}

}  // namespace neutra::training
