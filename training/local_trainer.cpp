#include "training/local_trainer.h"

#include <omp.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/warn_once.h"
#include "program/compiled_metrics.h"
#include "program/normal.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/libraries.h"
#include "training/loop.h"
#include "training/metrics.h"
#include "training/on_torch.h"
#include "training/prefix_cache.h"
#include "training/trained_mutations.h"

namespace neutra::training {
namespace {

using Clock = std::chrono::steady_clock;

/// Changes whenever a program's metrics do, so that no store mixes results of different rules.
constexpr const char* kSemantics = "3";

constexpr std::array<std::pair<Backend, std::string_view>, 3> kBackends{
    {{Backend::kAuto, "auto"}, {Backend::kEager, "eager"}, {Backend::kFused, "fused"}}};

constexpr const char* kNoMemory =
    "the machine has no memory left for this training; use fewer --workers or set --memory-limit";

/// Data sets that no training uses are kept up to this: mutants of data are many.
constexpr std::uint64_t kKeptBytes = std::uint64_t{1} << 30;
/// Likewise trained models: their mutants come one behind the other.
constexpr std::uint64_t kKeptModelBytes = std::uint64_t{64} << 20;

/// A data set with what validation needs to know of it.
struct Resident {
  std::shared_ptr<const Dataset> data;
  program::DataInfo info;
  std::optional<std::string> left_out;  ///< left_out_classes()
  std::uint64_t bytes() const {
    std::uint64_t floats = 0;
    for (const Array* array :
         {&data->x_train, &data->y_train, &data->x_test, &data->y_test, &data->x_holdout,
          &data->y_holdout, &data->x_validation, &data->y_validation}) {
      floats += array->values.size();
    }
    return floats * sizeof(float);
  }
  /// Made when it is wanted, for all trainings.
  const SparseDataset& sparse() const {
    std::call_once(once_, [this] { sparse_ = SparseDataset(*data); });
    return sparse_;
  }

 private:
  mutable std::once_flag once_;
  mutable SparseDataset sparse_;
};

/// The values used last, by key, as many as have so many bytes, or one.
template <typename Key, typename Value>
class UsedLast {
 public:
  explicit UsedLast(std::uint64_t limit) : limit_(limit) {}

  std::shared_ptr<const Value> find(const Key& key) {
    const auto known = index_.find(key);
    if (known == index_.end()) return nullptr;
    entries_.splice(entries_.end(), entries_, known->second);
    return known->second->second;
  }
  /// Unless one with that key is there.
  void add(const Key& key, std::shared_ptr<const Value> value) {
    if (index_.contains(key)) return;
    bytes_ += value->bytes();
    index_[key] = entries_.emplace(entries_.end(), key, std::move(value));
    while (bytes_ > limit_ && entries_.size() > 1) {
      bytes_ -= entries_.front().second->bytes();
      index_.erase(entries_.front().first);
      entries_.pop_front();
    }
  }

 private:
  using Entries = std::list<std::pair<Key, std::shared_ptr<const Value>>>;
  const std::uint64_t limit_;
  Entries entries_;  ///< the one used last at the end
  std::map<Key, typename Entries::iterator> index_;
  std::uint64_t bytes_ = 0;
};

/// The data sets used last, by recipe.
class DataCache {
 public:
  explicit DataCache(std::vector<std::filesystem::path> path) : path_(std::move(path)) {}

  std::shared_ptr<const Resident> get(const Json& recipe) {
    const std::lock_guard lock(mutex_);
    const std::string text = recipe.dump();
    if (auto known = entries_.find(text)) return known;
    const auto made = std::make_shared<Resident>();
    made->data = load_dataset(recipe, path_);
    made->info = made->data->info();
    made->left_out = left_out_classes(recipe, *made->data);
    entries_.add(text, made);
    return made;
  }
  TargetScale target_scale(const Json& recipe) const {
    return training::target_scale(recipe, path_);
  }

 private:
  std::vector<std::filesystem::path> path_;
  std::mutex mutex_;
  UsedLast<std::string, Resident> entries_{kKeptBytes};
};

/// The models that trainings ended with, for what trained.mutations make of them.
class FinishedTrainings {
 public:
  /// Of the streams, study seed, replica, epochs.
  using Key = std::tuple<Hash, std::uint64_t, int, std::int64_t>;
  struct Training {
    ReplicaResult result;  ///< without a metric
    program::ModelWeights weights;
    std::int64_t epochs = 0;  ///< that were finished
    std::uint64_t bytes() const {
      std::uint64_t floats = 0;
      for (const auto& layer : weights) {
        for (const std::vector<float>& values : layer) floats += values.size();
      }
      return floats * sizeof(float);
    }
  };

  std::shared_ptr<const Training> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    return entries_.find(key);
  }
  void add(const Key& key, std::shared_ptr<const Training> training) {
    const std::lock_guard lock(mutex_);
    entries_.add(key, std::move(training));
  }

 private:
  std::mutex mutex_;
  UsedLast<Key, Training> entries_{kKeptModelBytes};
};

/// Lets trainings start while what they need together stays below a limit.
class MemoryGate {
 public:
  explicit MemoryGate(std::uint64_t limit) : limit_(limit) {}  ///< 0: none

  /// Holds `bytes` until it is destroyed.
  class Share {
   public:
    Share(MemoryGate& gate, std::uint64_t bytes) : gate_(gate), bytes_(bytes) {}
    Share(const Share&) = delete;
    ~Share() {
      {
        const std::lock_guard lock(gate_.mutex_);
        gate_.used_ -= bytes_;
      }
      gate_.changed_.notify_all();
    }

   private:
    MemoryGate& gate_;
    std::uint64_t bytes_;
  };

  /// Waits for `bytes`. Throws Error where they are more than the limit, and when the job is
  /// stopped meanwhile.
  Share wait(std::uint64_t bytes, const TrainingJob& job) {
    constexpr auto kPollInterval = std::chrono::milliseconds(50);  // how soon a stop is seen
    std::unique_lock lock(mutex_);
    if (limit_ > 0 && bytes > limit_) {
      throw failure("--memory: found " + size_text(limit_) + ", and one training needs about " +
                    size_text(bytes) + "; allowed: more than that, or 0 for no limit");
    }
    const std::uint64_t ticket = next_ticket_++;  // first come, first served
    waiting_.insert(ticket);
    while (limit_ > 0 && (*waiting_.begin() != ticket || used_ + bytes > limit_)) {
      if (job.stop && job.stop->load()) {
        waiting_.erase(ticket);
        throw Error(Exit::kInterrupted, "interrupted");
      }
      changed_.wait_for(lock, kPollInterval);
    }
    waiting_.erase(ticket);
    used_ += bytes;
    changed_.notify_all();
    return {*this, bytes};
  }

 private:
  const std::uint64_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t used_ = 0, next_ticket_ = 0;
  std::set<std::uint64_t> waiting_;
};

/// TensorFlow's worker threads flush denormals; so do we while training (it's faster, too).
class FlushDenormals {
 public:
#ifdef __x86_64__
  FlushDenormals() : before_(_mm_getcsr()) {
    constexpr unsigned kDenormalsAreZero = 0x40;  // of inputs; the other: of results
    _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | kDenormalsAreZero);
  }
  ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;

 private:
  unsigned before_;
#endif
};

/// What LibTorch's exceptions say, without the places in its code.
std::string without_backtrace(const std::string& text) {
  return text.substr(0, text.find("\nException raised from "));
}

/// An Embedding over the rows themselves must have an embedding for each of their values.
std::optional<program::Problem> index_problem(const program::ResolvedProgram& program,
                                              const Dataset& data) {
  static const std::set<std::string> kMovesValues{"InputLayer", "Flatten", "Reshape"};
  const auto first = std::find_if(
      program.layers.begin(), program.layers.end(),
      [](const program::ResolvedLayer& layer) { return !kMovesValues.contains(layer.class_name); });
  if (first == program.layers.end() || first->class_name != "Embedding") return std::nullopt;
  const std::int64_t count = first->weights[0].shape[0];
  for (const Array* x : {&data.x_train, &data.x_test, &data.x_validation}) {
    for (const float value : x->values) {
      if (value > -1 && value < static_cast<float>(count)) continue;  // not so NaN
      return program::Problem{"/data", "the value " + program::shown(value),
                              "indices from 0 to " + std::to_string(count - 1) + ", for the " +
                                  std::to_string(count) + " embeddings of layer " +
                                  std::to_string(first->index)};
    }
  }
  return std::nullopt;
}

/// Does a callback look at a metric that earlier versions didn't log, and so ignored?
bool monitors_more(const program::Program& program) {
  const std::vector<program::Problem> problems = program::validate(program.document);
  if (!problems.empty()) return false;
  const Callbacks callbacks(program::resolve(program).callbacks);
  return std::any_of(
      callbacks.early_stopping.begin(), callbacks.early_stopping.end(),
      [](const EarlyStopping& callback) {
        static const std::set<std::string> kLogged{"loss", "accuracy", "mae", "mse"};
        const std::string& monitor = callback.monitor();
        return !kLogged.contains(monitor.substr(monitor.starts_with("val_") ? 4 : 0));
      });
}

std::optional<std::string> refusal_by_keras(const program::Program& program, const Resident& data) {
  std::vector<program::Problem> problems = validate(program.document, &data.info);
  if (problems.empty()) {
    const program::ResolvedProgram resolved = program::resolve(program, &data.info);
    const auto problem = index_problem(resolved, *data.data);
    if (problem) problems.push_back(*problem);
    const Array& targets = data.data->y_holdout;
    const std::string undefined = undefined_metric(resolved, {targets.values, targets.extents});
    if (!undefined.empty()) {
      problems.push_back({"/metric/name", undefined, "hold-out rows of at least two classes"});
    }
  }
  if (problems.empty()) return std::nullopt;
  std::string text;
  for (const program::Problem& problem : problems)
    text += (text.empty() ? "" : "; ") + to_string(problem);
  return text;
}

/// What all replicas of a program share.
struct Prepared {
  std::shared_ptr<const Resident> data;  ///< of the rows
  std::optional<std::string> refusal;    ///< Keras's
  std::optional<std::string> failure;  ///< what this version lacks; with either, the rest is empty
  program::ResolvedProgram program;
  TrainingRows rows;
  std::optional<std::string> fused_refusal;
  bool fused = false;
  std::uint64_t bytes = 0;
  Hash stream_hash, independent_hash;
  /// Where trained.mutations make another model of the trained one: that model.
  std::optional<mutators::ModelStructure> structure;
  std::shared_ptr<const Prepared> evaluated;
};

/// The hash that keys independent samples.
Hash independent_hash(const program::Program& program, bool mutated) {
  if (!mutated) return program::program_hash(program);
  program::Program trained = program;
  trained.document.erase("trained");
  Hash hash = program::program_hash(trained);
  hash.high = ~hash.high;  // other trainings than its own
  return hash;
}

/// What a training is made for, beside its program.
struct Demands {
  Backend backend = Backend::kAuto;
  KerasRelease keras = KerasRelease::kTf24;
  bool output_gradients = false;  ///< which the eager back end alone has
};

Prepared prepare(const program::Program& program, std::shared_ptr<const Resident> resident,
                 const TargetScale& target_scale, const Demands& demands) {
  Prepared made;
  const Resident& data = *resident;
  made.data = std::move(resident);
  made.refusal = refusal_by_keras(program, data);
  if (made.refusal) return made;
  try {
    made.program = program::resolve(program, &data.info);
    if (data.left_out && made.program.task == "classification") warn_once(*data.left_out);
  } catch (const Error& e) {
    if (e.exit() != Exit::kBadInput) throw;
    made.failure = e.what();
    return made;
  }
  const std::optional<std::string> loss = loss_of(demands.keras, made.program.loss);
  if (!loss) {
    made.refusal = "Keras 2.2.4 has no loss " + made.program.loss;
    return made;
  }
  if (demands.keras == KerasRelease::k224 && made.program.loss_options != program::LossOptions{}) {
    made.refusal = "Keras 2.2.4 has no options of the loss " + made.program.loss;
    return made;
  }
  made.program.loss = *loss;
  made.rows = training_rows(made.program, *data.data);
  if (demands.backend != Backend::kEager && !demands.output_gradients) {
    made.fused_refusal = fused_refusal(made.program, made.rows.training);
    made.fused = !made.fused_refusal;
    if (made.fused) made.rows = training_rows(made.program, *data.data, data.sparse());
  }
  made.rows.target_scale = target_scale;
  const auto bytes = [&](const Rows& rows) -> std::uint64_t {
    if (rows.count() == 0) return 0;
    return made.fused ? fused_bytes(made.program, rows) : eager_bytes(made.program, rows);
  };
  made.bytes = bytes(made.rows.training);
  if (!made.program.loop.eval_mode) {  // evaluated by another engine
    made.bytes += std::max(bytes(made.rows.holdout), bytes(made.rows.validation));
  }
  made.stream_hash = stream_hash(program);
  const bool mutated = !made.program.trained_mutations.empty();
  made.independent_hash = independent_hash(program, mutated);
  if (mutated) {
    made.structure = mutated_structure(program, made.program);
    auto evaluated = prepare(made.structure->program, made.data, target_scale,
                             {demands.backend, demands.keras, false});
    made.refusal = evaluated.refusal;
    made.failure = evaluated.failure;
    made.bytes = std::max(made.bytes, evaluated.bytes);
    made.evaluated = std::make_shared<const Prepared>(std::move(evaluated));
  }
  return made;
}

/// The programs prepared last, by document and demands.
class PreparedPrograms {
 public:
  std::shared_ptr<const Prepared> get(const program::Program& program, DataCache& data,
                                      const Demands& demands) {
    constexpr std::size_t kKept = 64;  // more than any machine trains at once
    std::string text = program.document.dump();
    if (demands.keras == KerasRelease::k224) text += " Keras 2.2.4";
    if (demands.output_gradients) text += " output gradients";
    {
      const std::lock_guard lock(mutex_);
      const auto it = entries_.find(text);
      if (it != entries_.end()) return it->second;
    }
    const Json& recipe = program.document.at("data");
    const Json* metric = member(program.document, "metric");
    const Json* scale = metric != nullptr ? member(*metric, "scale") : nullptr;
    auto made = std::make_shared<const Prepared>(prepare(
        program, data.get(recipe),
        scale != nullptr && *scale == "original" ? data.target_scale(recipe) : TargetScale{},
        demands));
    const std::lock_guard lock(mutex_);
    if (!entries_.emplace(text, made).second) return made;  // another thread was faster
    oldest_first_.push_back(std::move(text));
    if (++users_[made->data.get()] == 1) bytes_ += made->data->bytes();
    while (oldest_first_.size() > kKept || (bytes_ > kKeptBytes && oldest_first_.size() > 1)) {
      const auto oldest = entries_.find(oldest_first_.front());
      const Resident* data_of_it = oldest->second->data.get();
      if (--users_[data_of_it] == 0) {
        bytes_ -= data_of_it->bytes();
        users_.erase(data_of_it);
      }
      entries_.erase(oldest);
      oldest_first_.pop_front();
    }
    return made;
  }

 private:
  std::map<const Resident*, int> users_;  ///< programs of each data set
  std::uint64_t bytes_ = 0;               ///< of these data sets
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Prepared>> entries_;
  std::deque<std::string> oldest_first_;
};

std::unique_ptr<Engine> make_engine(const program::ResolvedProgram& program, const Rows& training,
                                    RandomKey key, bool fused) {
  return fused ? make_fused_engine(program, training, key)
               : make_eager_engine(program, training, key);
}

/// The compiled metrics that can be taken of the program's outputs and targets.
std::vector<std::string> logged_metrics(const program::Program& program,
                                        const program::DataInfo& data) {
  std::vector<std::string> metrics = program::compiled_metrics(program.document);
  std::erase_if(metrics, [&](const std::string& metric) {
    Json document = program.document;
    document["metric"] = {{"name", metric}};
    return !validate(document, &data).empty();
  });
  return metrics;
}

/// An engine that never trains. It sees its rows as training rows.
class EnginePredictor final : public Predictor {
 public:
  /// `targets`: rows that the engine needs beside inputs that aren't a part of a data set.
  /// `key`: of the training whose evaluation this is. `owner`: of the data set.
  EnginePredictor(program::ResolvedProgram program, Rows rows, Array targets, RandomKey key,
                  bool fused, std::shared_ptr<const Prepared> owner)
      : owner_(std::move(owner)),
        program_(without_initial_values(std::move(program))),
        targets_(std::move(targets)),
        rows_(rows) {
    omp_set_num_threads(1);
    if (rows_.y == nullptr) rows_.y = &targets_;
    program::LoopStyle loop;
    loop.eval_mode = program_.loop.eval_mode;  // the rest is about layers and updates
    program_.loop = loop;
    if (program_.loop.eval_mode) {
      program_.batch_size = std::clamp<std::int64_t>(kFloats / row_elements(program_), 1, kRows);
    }
    engine_ =
        make_engine(program_, rows_, evaluation_key(key), fused && !fused_refusal(program_, rows_));
  }

  Weights& weights() override { return engine_->weights(); }
  std::int64_t rows() const override { return rows_.count(); }
  std::int64_t max_rows() const override { return std::min(program_.batch_size, rows()); }
  std::span<const float> outputs(std::int64_t begin, std::int64_t count) override {
    const FlushDenormals guard;
    indices_.resize(static_cast<std::size_t>(count));
    std::iota(indices_.begin(), indices_.end(), begin);
    if (program_.loop.eval_mode) {
      engine_->look(indices_);
    } else {
      engine_->gradients(indices_, static_cast<std::uint32_t>(begin / program_.batch_size),
                         {false, true, true});
    }
    return engine_->output().values;
  }
  std::vector<std::span<const float>> activations() override { return engine_->activations(); }

 private:
  static constexpr std::int64_t kFloats = 1 << 23;  ///< in a batch of all layers' outputs, ...
  static constexpr std::int64_t kRows = 1024;       ///< ... but no more rows than this

  std::shared_ptr<const Prepared> owner_;
  program::ResolvedProgram program_;
  Array targets_;
  Rows rows_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::int64_t> indices_;
};

/// Adds rows to an array.
void append(Array& array, const Batch& rows) {
  if (array.extents.empty()) {
    array.extents = rows.extents;
    array.extents.front() = 0;
  }
  array.extents.front() += rows.extents.front();
  array.values.insert(array.values.end(), rows.values.begin(), rows.values.end());
}

class Local final : public LocalTrainer {
 public:
  explicit Local(TrainerOptions options)
      : options_(std::move(options)),
        cache_(options_.data_path),
        prefixes_(state_bytes(options_)),
        gate_(options_.memory > 0 ? options_.memory - state_bytes(options_) : 0) {
    prepare_libraries();
  }

  ReplicaResult train(const TrainingJob& job) override { return train(job, nullptr, nullptr); }

  ReplicaResult train(const TrainingJob& job, Observer* observer) override {
    return train(job, observer, nullptr);
  }

  TrainedModel train_model(const TrainingJob& job) override {
    TrainedModel model;
    model.program = *job.program;
    model.training = train(job, nullptr, &model);
    return model;
  }

  std::shared_ptr<const Dataset> dataset(const program::Program& program) override {
    return cache_.get(program.document.at("data"))->data;
  }

  program::ResolvedProgram resolved(const program::Program& program) override {
    return prepare_to_look(program)->program;
  }

  Evaluation evaluate(const program::Program& program, DataPart part,
                      const program::ModelWeights& weights) override {
    constexpr std::int64_t kBatch = 32;  // of Keras's evaluate
    const FlushDenormals guard;
    omp_set_num_threads(1);
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    require_backend(*prepared);
    const program::ResolvedProgram resolved = without_initial_values(prepared->program);
    const std::unique_ptr<Engine> engine =
        make_engine(resolved, prepared->rows.training, RandomKey{}, prepared->fused);
    engine->weights().assign(weights);
    const Rows& rows = part_of(prepared->rows, part);
    Evaluation result;
    result.rows = rows.count();
    result.backend = to_string(prepared->fused ? Backend::kFused : Backend::kEager);
    std::optional<Metric> metric;
    if (resolved.metric != "loss") metric.emplace(resolved.metric, prepared->rows.target_scale);
    const auto listen = [&](const Batch& outputs, const Batch& targets) {
      if (metric) metric->add(outputs, targets);
      append(result.outputs, outputs);
    };
    result.loss = engine->evaluate(rows, listen, kBatch);
    result.metric = metric ? metric->value() : result.loss;
    if (metric) {
      result.correct = metric->correct();
      result.total = metric->total();
    }
    return result;
  }

  DataRows rows(const program::Program& program, DataPart part) override {
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    const Rows& rows = part_of(prepared->rows, part);
    const auto values = [&](const Array& array) {
      const auto width = static_cast<std::size_t>(array.row_size());
      return std::span(array.values)
          .subspan(static_cast<std::size_t>(rows.begin) * width,
                   static_cast<std::size_t>(rows.count()) * width);
    };
    const program::Shape& targets = rows.y->extents;
    return {rows.count(),
            prepared->program.input_shape,
            program::Shape(targets.begin() + 1, targets.end()),
            values(*rows.x),
            values(*rows.y),
            prepared};
  }

  std::unique_ptr<Predictor> predictor(const program::Program& program, DataPart part,
                                       RandomKey key) override {
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    return std::make_unique<EnginePredictor>(prepared->program, part_of(prepared->rows, part),
                                             Array{}, key, prepared->fused, prepared);
  }

  std::unique_ptr<Predictor> predictor(const program::Program& program, std::size_t first,
                                       const Array& inputs) override {
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    program::ResolvedProgram rest = prepared->program;
    assert(first < rest.layers.size());
    rest.layers.erase(rest.layers.begin(),
                      rest.layers.begin() + static_cast<std::ptrdiff_t>(first));
    rest.input_shape = rest.layers.front().input_shape;
    assert(inputs.row_size() == element_product(rest.input_shape));
    Array targets;
    targets.extents = prepared->rows.training.y->extents;
    targets.extents.front() = inputs.rows();
    targets.values.resize(static_cast<std::size_t>(inputs.rows() * targets.row_size()));
    return std::make_unique<EnginePredictor>(
        std::move(rest), Rows{&inputs, nullptr, 0, inputs.rows()}, std::move(targets), RandomKey{},
        prepared->fused, prepared);
  }

  std::optional<std::string> refusal(const program::Program& program) override {
    return refusal_by_keras(program, *cache_.get(program.document.at("data")));
  }

  std::string fingerprint(const program::Program& program) override {
    std::string text =
        std::string(to_string(options_.backend)) + " " + kSemantics + ", " + library_fingerprint();
    if (options_.backend != Backend::kEager) text += ", fused " + fused_fingerprint();
    if (monitors_more(program)) text += ", monitors 2";
    return text + ", data " + to_string(digest(*cache_.get(program.document.at("data"))->data));
  }

 private:
  /// `model`: gets the model where it isn't null.
  ReplicaResult train(const TrainingJob& job, Observer* observer, TrainedModel* model) {
    Clock::time_point start = Clock::now();
    // Parallelism is over trainings: two threads in one are slower, and change the rounding.
    omp_set_num_threads(1);
    const FlushDenormals guard;
    ReplicaResult result;
    result.backend =
        to_string(options_.backend == Backend::kAuto ? Backend::kEager : options_.backend);
    result.metric = std::numeric_limits<double>::quiet_NaN();
    try {
      const std::shared_ptr<const Prepared> prepared = prepared_.get(
          *job.program, cache_,
          {options_.backend, job.keras, observer != nullptr && observer->wants_output_gradients()});
      if (!prepared->fused && !prepared->refusal && !prepared->failure) {
        const Clock::time_point before = Clock::now();
        torch_functions();
        start += Clock::now() - before;  // loading LibTorch is no part of a training
      }
      try {
        run(job, *prepared, observer, result, model);
      } catch (const Error& e) {
        if (e.exit() != Exit::kBadInput) throw;
        result.status = RunStatus::kFailed;
        result.message = e.what();
      }
    } catch (const Error&) {
      throw;  // interrupted, or for the user to mend
    } catch (const std::bad_alloc&) {
      throw failure(kNoMemory);
    } catch (const std::exception& e) {
      const std::string reason = without_backtrace(e.what());
      // A machine short of memory says nothing about the program.
      if (reason.find("not enough memory") != std::string::npos) throw failure(kNoMemory);
      result.status = RunStatus::kFailed;
      result.message = reason;
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
  }

  std::shared_ptr<const Prepared> prepare_to_look(const program::Program& program) {
    std::shared_ptr<const Prepared> prepared = prepared_.get(program, cache_, {options_.backend});
    if (prepared->refusal) throw input_error(*prepared->refusal);
    if (prepared->failure) throw input_error(*prepared->failure);
    return prepared;
  }
  static const Rows& part_of(const TrainingRows& rows, DataPart part) {
    switch (part) {
      case DataPart::kTraining:
        return rows.training;
      case DataPart::kValidation:
        return rows.validation;
      case DataPart::kTest:
        return rows.test;
      case DataPart::kHoldout:
        break;
    }
    return rows.holdout;
  }

  /// A quarter of --memory at most.
  static std::uint64_t state_bytes(const TrainerOptions& options) {
    if (!options.reuse_epochs) return 0;
    return options.memory > 0 ? std::min(options.state_bytes, options.memory / 4)
                              : options.state_bytes;
  }

  void run(const TrainingJob& job, const Prepared& prepared, Observer* observer,
           ReplicaResult& result, TrainedModel* model) {
    if (prepared.refusal) {
      result.status = RunStatus::kInvalid;
      result.message = *prepared.refusal;
      return;
    }
    if (prepared.failure) throw input_error(*prepared.failure);
    require_backend(prepared);
    if (prepared.evaluated) require_backend(*prepared.evaluated);
    const program::ResolvedProgram& program = prepared.program;
    result.backend = to_string(prepared.fused ? Backend::kFused : Backend::kEager);
    if (job.memory_limit > 0 && prepared.bytes > job.memory_limit) {
      result.status = RunStatus::kOutOfMemory;
      result.message =
          "needs about " + size_text(prepared.bytes) + "; allowed: " + size_text(job.memory_limit);
      return;
    }
    const bool prefix = job.stream == StreamKey::kPrefix;
    const Hash& hash = prefix ? prepared.stream_hash : prepared.independent_hash;
    const RandomKey key = random_key(job.seed, hash, job.replica);
    // Not with a time limit: whether one is kept must not depend on other trainings.
    const bool shared = !observer && job.time_limit == 0 && job.keras == KerasRelease::kTf24;
    const bool mutated = prepared.evaluated != nullptr;
    const PrefixCache::Key stem{hash, job.seed, job.replica};
    const bool remember = options_.reuse_epochs && shared && prefix;
    if (remember && !mutated && model == nullptr) {
      if (const std::optional<ReplicaResult> known = prefixes_.result(stem, program.epochs)) {
        result = *known;
        result.epochs_reused = program.epochs;
        result.samples_reused = result.samples;
        return;
      }
    }
    const MemoryGate::Share share = gate_.wait(prepared.bytes, job);
    const FinishedTrainings::Key own{hash, job.seed, job.replica, program.epochs};
    if (mutated && shared) {
      if (const auto known = finished_.find(own)) {
        result = known->result;
        result.epochs_reused = known->epochs;
        result.samples_reused = result.samples;
        evaluate(prepared, *known, key, result, model);
        return;
      }
    }
    const TrainingRows& rows = prepared.rows;
    std::unique_ptr<Engine> engine = make_engine(program, rows.training, key, prepared.fused);
    const Clock::time_point start = Clock::now();  // time limits don't count what came before
    TrainingLoop loop(
        program, rows, key, *engine,
        {options_.skip_dead_epochs, job.keras,
         observer ? logged_metrics(*job.program, prepared.data->info) : std::vector<std::string>()},
        observer);
    const auto complete = [&] {
      if (!mutated) loop.measure(result, model ? &model->outputs : nullptr);
      if (!mutated && model == nullptr) return;
      const auto training =
          std::make_shared<const FinishedTrainings::Training>(FinishedTrainings::Training{
              result, engine->weights().by_layer(), loop.epochs() + result.epochs_saved});
      engine.reset();
      if (mutated && shared) finished_.add(own, training);
      evaluate(prepared, *training, key, result, model);
    };
    if (!remember || !loop.has_prefixes()) {
      loop.run(job, start, program.epochs, result);
      loop.finish();
      if (result.status != RunStatus::kTimeout) complete();
      return;
    }
    if (const std::shared_ptr<const TrainingState> state = prefixes_.state(stem, program.epochs)) {
      loop.resume(*state);
      result.epochs_reused = state->epochs;
      result.steps = state->steps;
      result.samples = result.samples_reused = state->samples;
    }
    const std::int64_t half = program.epochs / 2;
    if (!mutated && half > result.epochs_reused) {
      if (!loop.run(job, start, half, result)) return complete();  // every weight is NaN
      ReplicaResult at_half = result;
      loop.measure(at_half);
      prefixes_.add_result(stem, half, std::move(at_half));
    }
    if (loop.run(job, start, program.epochs, result) && engine->resumable() &&
        prefixes_.has_room(loop.state_bytes())) {
      prefixes_.add_state(stem, std::make_shared<const TrainingState>(loop.state()));
    }
    complete();
  }

  void require_backend(const Prepared& prepared) const {
    if (options_.backend == Backend::kFused && prepared.fused_refusal) {
      throw input_error("the fused back end doesn't know: " + *prepared.fused_refusal +
                        "; --backend auto trains such programs with the eager one");
    }
  }

  /// What trained.mutations make of a trained model, with its metric; any other as it is.
  static void evaluate(const Prepared& prepared, const FinishedTrainings::Training& training,
                       RandomKey key, ReplicaResult& result, TrainedModel* model) {
    program::ModelWeights weights = training.weights;
    if (prepared.evaluated) {
      mutate_weights(prepared.program, weights);
      weights = weights_of(*prepared.structure, weights);
      const program::ResolvedProgram program = without_initial_values(prepared.evaluated->program);
      const TrainingRows& rows = prepared.evaluated->rows;
      const auto engine = make_engine(program, rows.training, key, prepared.evaluated->fused);
      engine->weights().assign(weights);
      TrainingLoop(program, rows, key, *engine, {}, nullptr)
          .measure(result, model ? &model->outputs : nullptr);
    }
    if (model == nullptr) return;
    if (prepared.structure) model->program = prepared.structure->program;
    model->weights = std::move(weights);
    model->key = key;
    model->epochs = training.epochs;
  }

  TrainerOptions options_;
  DataCache cache_;
  PreparedPrograms prepared_;
  PrefixCache prefixes_;
  FinishedTrainings finished_;
  MemoryGate gate_;
};

}  // namespace

std::optional<Backend> parse_backend(std::string_view word) {
  for (const auto& [backend, known] : kBackends) {
    if (word == known) return backend;
  }
  return std::nullopt;
}

std::string_view to_string(Backend backend) {
  return kBackends[static_cast<std::size_t>(backend)].second;
}

std::unique_ptr<LocalTrainer> make_local_trainer(TrainerOptions options) {
  return std::make_unique<Local>(std::move(options));
}

Array predict(const program::ResolvedProgram& program, const program::ModelWeights& weights,
              const Array& inputs, Backend backend) {
  prepare_libraries();
  program::ResolvedProgram model = program;
  model.loss = "mean_squared_error";  // any that takes targets of the output's shape
  model.loop.eval_mode = true;
  Array targets;
  targets.extents = model.layers.back().output_shape;
  targets.extents.insert(targets.extents.begin(), inputs.rows());
  Array outputs{targets.extents, {}};
  outputs.extents.front() = 0;
  targets.values.resize(static_cast<std::size_t>(inputs.rows() * targets.row_size()));
  EnginePredictor predictor(std::move(model), Rows{&inputs, nullptr, 0, inputs.rows()},
                            std::move(targets), RandomKey{}, backend != Backend::kEager, nullptr);
  predictor.weights().assign(weights);
  for (std::int64_t begin = 0; begin < inputs.rows();) {
    const std::int64_t count = std::min(predictor.max_rows(), inputs.rows() - begin);
    const std::span<const float> values = predictor.outputs(begin, count);
    outputs.values.insert(outputs.values.end(), values.begin(), values.end());
    begin += count;
  }
  outputs.extents.front() = inputs.rows();
  return outputs;
}

}  // namespace neutra::training
