#include "training/eager.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

#include "program/error.h"
#include "training/callbacks.h"
#include "training/data/dataset.h"
#include "training/libraries.h"
#include "training/losses.h"
#include "training/metrics.h"
#include "training/model.h"
#include "training/optimizers.h"

namespace neutra {
namespace {

using Clock = std::chrono::steady_clock;

/// Changes whenever a program's metrics do, so that no store mixes results of different rules.
constexpr const char* kSemantics = "1";

/// A data set with its arrays as tensors that share their memory.
struct Resident {
  std::shared_ptr<const Dataset> data;
  at::Tensor x_test, y_test;
  DataInfo info;
  at::Tensor x_train, y_train, x_holdout, y_holdout;
  at::Tensor x_validation, y_validation;  ///< undefined where the recipe has none
};

at::Tensor as_tensor(const Array& array) {
  std::vector<std::int64_t> extents = array.extents;
  if (extents.size() == 1) extents.push_back(1);  // Keras makes a column of a vector
  // LibTorch has no constant tensors; nothing writes to these.
  return at::from_blob(const_cast<float*>(array.values.data()), extents, at::kFloat);
}

constexpr const char* kNoMemory =
    "the machine has no memory left for this training; use fewer --workers or set --memory-limit";

/// Data sets of the process, by recipe.
class DataCache {
 public:
  explicit DataCache(std::vector<std::filesystem::path> path) : path_(std::move(path)) {}

  const Resident& get(const Json& recipe) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Resident>& entry = entries_[recipe.dump()];
    if (!entry) {
      auto made = std::make_unique<Resident>();
      made->data = load_dataset(recipe, path_);
      made->info = made->data->info();
      made->x_train = as_tensor(made->data->x_train);
      made->y_train = as_tensor(made->data->y_train);
      made->x_test = as_tensor(made->data->x_test);
      made->y_test = as_tensor(made->data->y_test);
      made->x_holdout = as_tensor(made->data->x_holdout);
      made->y_holdout = as_tensor(made->data->y_holdout);
      if (made->data->x_validation.rows() > 0) {
        made->x_validation = as_tensor(made->data->x_validation);
        made->y_validation = as_tensor(made->data->y_validation);
      }
      entry = std::move(made);
    }
    return *entry;
  }

 private:
  std::vector<std::filesystem::path> path_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Resident>> entries_;
};

/// TensorFlow's worker threads flush denormals; so do we while training (it's faster, too).
class FlushDenormals {
 public:
  FlushDenormals() { at::globalContext().setFlushDenormal(true); }
  ~FlushDenormals() { at::globalContext().setFlushDenormal(false); }
};

Batch as_batch(const at::Tensor& t) {
  return {{t.data_ptr<float>(), static_cast<std::size_t>(t.numel())}, t.sizes().vec()};
}

/// Copies rows order[begin ..] of `source` into `batch`.
void gather(const at::Tensor& source, std::span<const std::int64_t> order, at::Tensor& batch) {
  const auto width = static_cast<std::size_t>(source.numel() / source.size(0));
  const float* from = source.data_ptr<float>();
  float* to = batch.data_ptr<float>();
  for (const std::int64_t row : order) {
    std::memcpy(to, from + static_cast<std::size_t>(row) * width, width * sizeof(float));
    to += width;
  }
}

at::Tensor rows_like(const at::Tensor& source, std::int64_t rows) {
  std::vector<std::int64_t> extents = source.sizes().vec();
  extents[0] = rows;
  return at::empty(extents);
}

std::int64_t element_product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Elements that one row takes in all layers' outputs, and in what convolutions make of their
/// inputs: a copy with one cell more on each axis.
std::int64_t row_elements(const ResolvedProgram& program) {
  std::int64_t sum = element_product(program.input_shape);
  for (const ResolvedLayer& layer : program.layers) {
    sum += element_product(layer.output_shape);
    if (layer.class_name == "Conv2D" && layer.config.at("padding") == "same") {
      const Shape& image = layer.input_shape;
      sum += (image[0] + 1) * (image[1] + 1) * image[2];
    }
  }
  return sum;
}

/// LibTorch convolves a single image by way of the matrix of its windows: the largest one's size.
std::int64_t window_elements(const ResolvedProgram& program) {
  std::int64_t largest = 0;
  for (const ResolvedLayer& layer : program.layers) {
    if (layer.class_name != "Conv2D") continue;
    const Shape &kernel = layer.weights.front().shape, &output = layer.output_shape;
    largest = std::max(largest, kernel[0] * kernel[1] * kernel[2] * output[0] * output[1]);
  }
  return largest;
}

/// Rows evaluated at once: many, within 64 MiB of outputs. A function of the program alone, since
/// the rounding of a product may depend on its size.
std::int64_t evaluation_rows(const ResolvedProgram& program) {
  return std::clamp<std::int64_t>((16 << 20) / row_elements(program), 32, 8192);
}

/// Weights, gradients and optimiser states; outputs of a batch with their gradients and what
/// autograd keeps; an evaluation; work space of convolutions.
std::uint64_t estimated_bytes(const ResolvedProgram& program, std::int64_t rows) {
  std::int64_t weights = 0;
  for (const ResolvedLayer& layer : program.layers) {
    for (const Weight& weight : layer.weights) weights += element_product(weight.shape);
  }
  const std::int64_t floats = weights * (2 + optimizer_states(program.optimizer)) +
                              3 * std::min(program.batch_size, rows) * row_elements(program) +
                              2 * evaluation_rows(program) * row_elements(program) +
                              window_elements(program);
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

/// The run of one job.
class Training {
 public:
  Training(const ResolvedProgram& program, const Resident& data, RandomKey key,
           const TrainerOptions& options, Observer* observer)
      : program_(program),
        data_(data),
        key_(key),
        options_(options),
        observer_(observer),
        model_(program, key),
        loss_(program.loss, model_.output_activation()),
        optimizer_(make_optimizer(program.optimizer, model_.trainable_variables())),
        callbacks_(program.callbacks) {
    for (const char* metric : {"accuracy", "mae", "mse"}) {
      if (callbacks_.monitors(metric) || (observer && program.metric == metric)) {
        logged_.emplace_back(metric);
      }
    }
    const std::int64_t n = data.x_train.size(0);
    rows_ = static_cast<std::int64_t>(static_cast<double>(n) * (1 - program.validation_split));
    x_ = data.x_train.narrow(0, 0, rows_);
    y_ = data.y_train.narrow(0, 0, rows_);
    if (observer || callbacks_.monitors_validation()) {
      // In tf.keras 2.4 validation_split takes the place of other validation data.
      x_validation_ = rows_ < n ? data.x_train.narrow(0, rows_, n - rows_) : data.x_validation;
      y_validation_ = rows_ < n ? data.y_train.narrow(0, rows_, n - rows_) : data.y_validation;
    }
  }

  void run(const TrainingJob& job, Clock::time_point start, ReplicaResult& result) {
    const std::int64_t batch = std::min(program_.batch_size, rows_);
    at::Tensor x_full = rows_like(x_, batch), y_full = rows_like(y_, batch);
    at::Tensor x_rest = rows_like(x_, rows_ % batch), y_rest = rows_like(y_, rows_ % batch);
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows_));
    std::iota(order.begin(), order.end(), std::int64_t{0});

    if (observer_) {
      if (!x_validation_.defined() && observer_->wants_validation()) {
        x_validation_ = data_.x_test;
        y_validation_ = data_.y_test;
        validates_on_test_ = true;
      }
      observer_->begin(data_view());
    }
    bool stop = false;
    for (std::int64_t epoch = 0; epoch < program_.epochs && !stop; ++epoch) {
      if (program_.shuffle) {
        fill_permutation({key_, Stream::kShuffle, 0, static_cast<std::uint32_t>(epoch)}, order);
      }
      begin_epoch();
      for (std::int64_t begin = 0; begin < rows_ && !stop; begin += batch) {
        if (job.time_limit > 0 &&
            std::chrono::duration<double>(Clock::now() - start).count() > job.time_limit) {
          result.status = RunStatus::kTimeout;
          result.message = "ran past its time limit in epoch " + std::to_string(epoch + 1);
          return;
        }
        if (job.stop && job.stop->load(std::memory_order_relaxed)) {
          throw Error(Exit::kInterrupted, "interrupted");
        }
        const bool full = begin + batch <= rows_;
        at::Tensor &x = full ? x_full : x_rest, &y = full ? y_full : y_rest;
        const auto rows = std::span<const std::int64_t>(order).subspan(
            static_cast<std::size_t>(begin), static_cast<std::size_t>(x.size(0)));
        gather(x_, rows, x);
        gather(y_, rows, y);
        stop = step(x, y, epoch, result.steps);
        ++result.steps;
        result.samples += x.size(0);
      }
      stop = end_epoch(epoch) || stop;
      if (options_.skip_dead_epochs && !stop && !observer_ && callbacks_.early_stopping.empty() &&
          optimizer_->keeps_nan() && model_.all_nan()) {
        result.epochs_saved = program_.epochs - epoch - 1;
        break;
      }
    }
    for (const EarlyStopping& callback : callbacks_.early_stopping) {
      const std::span<const float> best = callback.restored();
      std::copy(best.begin(), best.end(), model_.weights().begin());
    }
    measure(result);
  }

 private:
  DataView data_view() const {
    DataView view{program_.input_shape, as_batch(x_).values, {}, program_.batch_size};
    if (x_validation_.defined()) view.validation = as_batch(x_validation_).values;
    return view;
  }

  bool needs_loss() const {
    return observer_ || callbacks_.terminate_on_nan || callbacks_.monitors("loss");
  }

  void begin_epoch() {
    loss_sum_ = 0;
    rows_seen_ = 0;
    metrics_.clear();
    for (const std::string& name : logged_) metrics_.emplace(name, Metric(name));
  }

  /// One optimiser step; true: stop the training.
  bool step(const at::Tensor& x, const at::Tensor& y, std::int64_t epoch, std::int64_t step) {
    std::span<float> gradients = model_.gradients();
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    activations_.clear();
    const Pass pass{true, key_, static_cast<std::uint32_t>(step)};
    const Model::Result result = model_.forward(x, pass, observer_ ? &activations_ : nullptr);
    const at::Tensor output = loss_.on_logits() ? result.raw : model_.output(result.raw);

    double value = needs_loss() ? model_.penalty() : 0;
    const std::optional<at::Tensor> gradient = loss_.gradient(output, y);
    at::Tensor root = output;
    if (!gradient) root = loss_.mean(output, y);
    if (needs_loss()) {
      const at::NoGradGuard guard;
      value += (gradient ? loss_.mean(output, y) : root).item<double>();
      if (result.penalty.defined()) value += result.penalty.item<double>();
    }
    if (root.requires_grad()) {
      if (result.penalty.defined() && result.penalty.requires_grad()) {
        torch::autograd::backward({root, result.penalty}, {gradient.value_or(at::Tensor()), {}});
      } else {
        root.backward(gradient.value_or(at::Tensor()));
      }
      model_.add_penalty_gradients();
      optimizer_->step(model_.trainable(), gradients);
    }

    loss_sum_ += value * static_cast<double>(x.size(0));
    rows_seen_ += x.size(0);
    if (!metrics_.empty()) {
      const at::NoGradGuard guard;
      const at::Tensor final = (loss_.on_logits() ? model_.output(output) : output).contiguous();
      for (auto& [name, metric] : metrics_) metric.add(as_batch(final), as_batch(y));
    }
    if (observer_) {
      const std::vector<LayerView> views = model_.views(activations_, true);
      observer_->batch_end({epoch, step, x.size(0), value, views});
      if (observer_->stop()) return true;
    }
    return callbacks_.terminate_on_nan && !std::isfinite(value);
  }

  /// Adds the values of the validation rows.
  void validate(Logs& logs) {
    std::map<std::string, Metric> metrics;
    for (const std::string& name : logged_) metrics.emplace(name, Metric(name));
    logs["val_loss"] = evaluate(x_validation_, y_validation_, metrics, program_.batch_size);
    for (const auto& [name, metric] : metrics) logs["val_" + name] = metric.value();
  }

  bool end_epoch(std::int64_t epoch) {
    if (!observer_ && callbacks_.early_stopping.empty()) return false;
    Logs logs;
    if (needs_loss()) logs["loss"] = loss_sum_ / static_cast<double>(rows_seen_);
    for (const auto& [name, metric] : metrics_) logs[name] = metric.value();
    if (x_validation_.defined() && !validates_on_test_) validate(logs);
    bool stop = false;
    for (EarlyStopping& callback : callbacks_.early_stopping) {
      stop = callback.epoch_end(logs, model_.weights()) || stop;
    }
    if (observer_) {
      // After the callbacks: an observer changes nothing.
      if (validates_on_test_) validate(logs);
      const std::vector<LayerView> views = model_.views({}, false);
      observer_->epoch_end({epoch, logs, views});
      stop = observer_->stop() || stop;
    }
    return stop;
  }

  /// Feeds the metrics; returns the loss where `loss_rows` > 0: mean over batches of that many
  /// rows, as Keras takes it (the hinge losses look at the labels of a whole batch).
  double evaluate(const at::Tensor& x, const at::Tensor& y, std::map<std::string, Metric>& metrics,
                  std::int64_t loss_rows) {
    const c10::InferenceMode guard;
    const std::int64_t n = x.size(0);
    std::int64_t chunk = evaluation_rows(program_);
    if (loss_rows > 0) chunk = std::max<std::int64_t>(1, chunk / loss_rows) * loss_rows;
    double sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += chunk) {
      const std::int64_t rows = std::min(chunk, n - begin);
      const at::Tensor targets = y.narrow(0, begin, rows);
      const Model::Result result = model_.forward(x.narrow(0, begin, rows), {false, key_, 0});
      const at::Tensor output = model_.output(result.raw).contiguous();
      for (auto& [name, metric] : metrics) metric.add(as_batch(output), as_batch(targets));
      const at::Tensor& source = loss_.on_logits() ? result.raw : output;
      for (std::int64_t at = 0; loss_rows > 0 && at < rows; at += loss_rows) {
        const std::int64_t count = std::min(loss_rows, rows - at);
        const at::Tensor mean =
            loss_.mean(source.narrow(0, at, count), targets.narrow(0, at, count));
        sum += mean.item<double>() * static_cast<double>(count);
      }
      if (result.penalty.defined()) {
        sum += result.penalty.item<double>() * static_cast<double>(rows);
      }
    }
    return sum / static_cast<double>(n) + model_.penalty();
  }

  /// The metric on the hold-out rows.
  void measure(ReplicaResult& result) {
    constexpr std::int64_t kEvaluateRows = 32;  // batch size of Keras's evaluate
    std::map<std::string, Metric> metrics;
    if (program_.metric == "loss") {
      result.metric = evaluate(data_.x_holdout, data_.y_holdout, metrics, kEvaluateRows);
    } else {
      const auto it = metrics.emplace(program_.metric, Metric(program_.metric)).first;
      evaluate(data_.x_holdout, data_.y_holdout, metrics, 0);
      result.metric = it->second.value();
      result.correct = it->second.correct();
      result.total = it->second.total();
    }
    if (!std::isfinite(result.metric) || !model_.all_finite()) {
      result.status = RunStatus::kDiverged;
      result.message = "weights or metric are not finite";
    }
  }

  const ResolvedProgram& program_;
  const Resident& data_;
  RandomKey key_;
  const TrainerOptions& options_;
  Observer* observer_;
  Model model_;
  Loss loss_;
  std::unique_ptr<Optimizer> optimizer_;
  Callbacks callbacks_;
  std::int64_t rows_ = 0;
  at::Tensor x_, y_, x_validation_, y_validation_;
  bool validates_on_test_ = false;  ///< for the observer alone
  std::vector<std::string>
      logged_;  ///< metrics that callbacks or the observer want after each epoch

  double loss_sum_ = 0;
  std::int64_t rows_seen_ = 0;
  std::map<std::string, Metric> metrics_;
  std::vector<at::Tensor> activations_;
};

class Eager final : public EagerTrainer {
 public:
  explicit Eager(TrainerOptions options)
      : options_(std::move(options)), cache_(options_.data_path) {
    prepare_libraries();
  }

  ReplicaResult train(const TrainingJob& job) override { return train(job, nullptr); }

  ReplicaResult train(const TrainingJob& job, Observer* observer) override {
    const Clock::time_point start = Clock::now();
    // Parallelism is over trainings: two threads in one are slower, and change the rounding.
    at::set_num_threads(1);
    const FlushDenormals guard;
    ReplicaResult result;
    result.backend = "eager";
    result.metric = std::numeric_limits<double>::quiet_NaN();
    try {
      const Resident& data = cache_.get(job.program->document.at("data"));
      try {
        run(job, data, start, observer, result);
      } catch (const Error& e) {
        if (e.exit() != Exit::kBadInput) throw;
        result.status = RunStatus::kFailed;
        result.message = e.what();
      }
    } catch (const c10::Error& e) {
      // A machine short of memory says nothing about the program.
      const std::string reason = e.what_without_backtrace();
      if (reason.find("not enough memory") != std::string::npos) throw failure(kNoMemory);
      result.status = RunStatus::kFailed;
      result.message = reason;
    } catch (const Error&) {
      throw;  // interrupted, or for the user to mend
    } catch (const std::bad_alloc&) {
      throw failure(kNoMemory);
    } catch (const std::exception& e) {
      result.status = RunStatus::kFailed;
      result.message = e.what();
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
  }

  std::optional<std::string> refusal(const Program& program) override {
    const Resident& data = cache_.get(program.document.at("data"));
    return refusal(program, data);
  }

  std::string fingerprint(const Program& program) override {
    return std::string("eager ") + kSemantics + ", " + library_fingerprint() + ", data " +
           to_string(digest(*cache_.get(program.document.at("data")).data));
  }

 private:
  static std::optional<std::string> refusal(const Program& program, const Resident& data) {
    const std::vector<Problem> problems = validate(program.document, &data.info);
    if (problems.empty()) return std::nullopt;
    std::string text;
    for (const Problem& problem : problems) text += (text.empty() ? "" : "; ") + to_string(problem);
    return text;
  }

  void run(const TrainingJob& job, const Resident& data, Clock::time_point start,
           Observer* observer, ReplicaResult& result) const {
    if (const std::optional<std::string> reason = refusal(*job.program, data)) {
      result.status = RunStatus::kInvalid;
      result.message = *reason;
      return;
    }
    const ResolvedProgram program = resolve(*job.program, &data.info);
    const std::uint64_t bytes = estimated_bytes(program, data.info.training_rows);
    if (job.memory_limit > 0 && bytes > job.memory_limit) {
      result.status = RunStatus::kOutOfMemory;
      result.message = "needs about " + std::to_string(bytes >> 20) +
                       " MiB; allowed: " + std::to_string(job.memory_limit >> 20) + " MiB";
      return;
    }
    const Hash hash =
        job.stream == StreamKey::kPrefix ? stream_hash(*job.program) : program_hash(*job.program);
    Training training(program, data, random_key(job.seed, hash, job.replica), options_, observer);
    training.run(job, start, result);
  }

  TrainerOptions options_;
  DataCache cache_;
};

}  // namespace

std::unique_ptr<EagerTrainer> make_eager_trainer(TrainerOptions options) {
  return std::make_unique<Eager>(std::move(options));
}

}  // namespace neutra
