#include "training/local_trainer.h"

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
#include <unordered_map>
#include <utility>

#include "program/error.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/libraries.h"
#include "training/loop.h"
#include "training/prefix_cache.h"
#include "training/torch.h"

namespace neutra {
namespace {

using Clock = std::chrono::steady_clock;

/// Changes whenever a program's metrics do, so that no store mixes results of different rules.
constexpr const char* kSemantics = "2";

constexpr std::array<std::pair<Backend, std::string_view>, 3> kBackends{
    {{Backend::kAuto, "auto"}, {Backend::kEager, "eager"}, {Backend::kFused, "fused"}}};

constexpr const char* kNoMemory =
    "the machine has no memory left for this training; use fewer --workers or set --memory-limit";

/// Data sets that no training uses are kept up to this: mutants of data are many.
constexpr std::uint64_t kKeptBytes = std::uint64_t{1} << 30;

/// A data set with what validation needs to know of it.
struct Resident {
  std::shared_ptr<const Dataset> data;
  DataInfo info;
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

/// The data sets used last, by recipe.
class DataCache {
 public:
  explicit DataCache(std::vector<std::filesystem::path> path) : path_(std::move(path)) {}

  std::shared_ptr<const Resident> get(const Json& recipe) {
    const std::lock_guard lock(mutex_);
    const std::string text = recipe.dump();
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& entry) { return entry.first == text; });
    if (known != entries_.end()) {
      entries_.splice(entries_.end(), entries_, known);
      return known->second;
    }
    const auto made = std::make_shared<Resident>();
    made->data = load_dataset(recipe, path_);
    made->info = made->data->info();
    entries_.emplace_back(text, made);
    bytes_ += made->bytes();
    while (bytes_ > kKeptBytes && entries_.size() > 1) {
      bytes_ -= entries_.front().second->bytes();
      entries_.pop_front();
    }
    return made;
  }

 private:
  std::vector<std::filesystem::path> path_;
  std::mutex mutex_;
  /// The one used last at the end.
  std::list<std::pair<std::string, std::shared_ptr<const Resident>>> entries_;
  std::uint64_t bytes_ = 0;
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
      throw failure("a training needs about " + std::to_string(bytes >> 20) +
                    " MiB; --memory leaves " + std::to_string(limit_ >> 20) + " MiB");
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
  FlushDenormals() { at::globalContext().setFlushDenormal(true); }
  ~FlushDenormals() { at::globalContext().setFlushDenormal(false); }
};

std::optional<std::string> refusal_by_keras(const Program& program, const Resident& data) {
  const std::vector<Problem> problems = validate(program.document, &data.info);
  if (problems.empty()) return std::nullopt;
  std::string text;
  for (const Problem& problem : problems) text += (text.empty() ? "" : "; ") + to_string(problem);
  return text;
}

/// What all replicas of a program share.
struct Prepared {
  std::shared_ptr<const Resident> data;  ///< of the rows
  std::optional<std::string> refusal;    ///< Keras's
  std::optional<std::string> failure;  ///< what this version lacks; with either, the rest is empty
  ResolvedProgram program;
  TrainingRows rows;
  std::optional<std::string> fused_refusal;
  bool fused = false;
  std::uint64_t bytes = 0;
  Hash stream_hash, program_hash;
};

Prepared prepare(const Program& program, std::shared_ptr<const Resident> resident,
                 Backend backend) {
  Prepared made;
  const Resident& data = *resident;
  made.data = std::move(resident);
  made.refusal = refusal_by_keras(program, data);
  if (made.refusal) return made;
  try {
    made.program = resolve(program, &data.info);
  } catch (const Error& e) {
    if (e.exit() != Exit::kBadInput) throw;
    made.failure = e.what();
    return made;
  }
  made.rows = training_rows(made.program, *data.data);
  if (backend != Backend::kEager) {
    made.fused_refusal = fused_refusal(made.program, made.rows.training);
    made.fused = !made.fused_refusal;
    if (made.fused) made.rows = training_rows(made.program, *data.data, data.sparse());
  }
  const auto bytes = [&](const Rows& rows) -> std::uint64_t {
    if (rows.count() == 0) return 0;
    return made.fused ? fused_bytes(made.program, rows) : eager_bytes(made.program, rows);
  };
  made.bytes = bytes(made.rows.training);
  if (!made.program.loop.eval_mode) {  // evaluated by another engine
    made.bytes += std::max(bytes(made.rows.holdout), bytes(made.rows.validation));
  }
  made.stream_hash = stream_hash(program);
  made.program_hash = program_hash(program);
  return made;
}

/// The programs prepared last, by document.
class PreparedPrograms {
 public:
  std::shared_ptr<const Prepared> get(const Program& program, DataCache& data, Backend backend) {
    constexpr std::size_t kKept = 64;  // more than any machine trains at once
    std::string text = program.document.dump();
    {
      const std::lock_guard lock(mutex_);
      const auto it = entries_.find(text);
      if (it != entries_.end()) return it->second;
    }
    auto made = std::make_shared<const Prepared>(
        prepare(program, data.get(program.document.at("data")), backend));
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

/// An engine that never trains. It sees its rows as training rows.
class EnginePredictor final : public Predictor {
 public:
  /// `targets`: rows that the engine needs beside inputs that aren't a part of a data set.
  /// `key`: of the training whose evaluation this is. `owner`: of the data set.
  EnginePredictor(ResolvedProgram program, Rows rows, Array targets, RandomKey key, bool fused,
                  std::shared_ptr<const Prepared> owner)
      : owner_(std::move(owner)),
        program_(without_initial_values(std::move(program))),
        targets_(std::move(targets)),
        rows_(rows) {
    at::set_num_threads(1);
    if (rows_.y == nullptr) rows_.y = &targets_;
    program_.loop = {.eval_mode = program_.loop.eval_mode};  // the rest is about layers and updates
    if (program_.loop.eval_mode) {
      program_.batch_size = std::clamp<std::int64_t>(kFloats / row_elements(program_), 1, kRows);
    }
    if (fused && fused_refusal(program_, rows_)) fused = false;
    key = evaluation_key(key);
    engine_ =
        fused ? make_fused_engine(program_, rows_, key) : make_eager_engine(program_, rows_, key);
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
  ResolvedProgram program_;
  Array targets_;
  Rows rows_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::int64_t> indices_;
};

class Local final : public LocalTrainer {
 public:
  explicit Local(TrainerOptions options)
      : options_(std::move(options)),
        cache_(options_.data_path),
        prefixes_(state_bytes(options_)),
        gate_(options_.memory > 0 ? options_.memory - state_bytes(options_) : 0) {
    prepare_libraries();
  }

  ReplicaResult train(const TrainingJob& job) override { return train(job, nullptr); }

  ReplicaResult train(const TrainingJob& job, Observer* observer) override {
    const Clock::time_point start = Clock::now();
    // Parallelism is over trainings: two threads in one are slower, and change the rounding.
    at::set_num_threads(1);
    const FlushDenormals guard;
    ReplicaResult result;
    result.backend =
        to_string(options_.backend == Backend::kAuto ? Backend::kEager : options_.backend);
    result.metric = std::numeric_limits<double>::quiet_NaN();
    try {
      const std::shared_ptr<const Prepared> prepared =
          prepared_.get(*job.program, cache_, options_.backend);
      try {
        run(job, *prepared, observer, result);
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

  std::shared_ptr<const Dataset> dataset(const Program& program) override {
    return cache_.get(program.document.at("data"))->data;
  }

  ResolvedProgram resolved(const Program& program) override {
    return prepare_to_look(program)->program;
  }

  DataRows rows(const Program& program, DataPart part) override {
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    const Rows& rows = part_of(prepared->rows, part);
    const auto values = [&](const Array& array) {
      const auto width = static_cast<std::size_t>(array.row_size());
      return std::span(array.values)
          .subspan(static_cast<std::size_t>(rows.begin) * width,
                   static_cast<std::size_t>(rows.count()) * width);
    };
    const Shape& targets = rows.y->extents;
    return {rows.count(),
            prepared->program.input_shape,
            Shape(targets.begin() + 1, targets.end()),
            values(*rows.x),
            values(*rows.y),
            prepared};
  }

  std::unique_ptr<Predictor> predictor(const Program& program, DataPart part,
                                       RandomKey key) override {
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    return std::make_unique<EnginePredictor>(prepared->program, part_of(prepared->rows, part),
                                             Array{}, key, prepared->fused, prepared);
  }

  std::unique_ptr<Predictor> predictor(const Program& program, std::size_t first,
                                       const Array& inputs) override {
    const std::shared_ptr<const Prepared> prepared = prepare_to_look(program);
    ResolvedProgram rest = prepared->program;
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

  std::optional<std::string> refusal(const Program& program) override {
    return refusal_by_keras(program, *cache_.get(program.document.at("data")));
  }

  std::string fingerprint(const Program& program) override {
    std::string text =
        std::string(to_string(options_.backend)) + " " + kSemantics + ", " + library_fingerprint();
    if (options_.backend != Backend::kEager) text += ", fused " + fused_fingerprint();
    return text + ", data " + to_string(digest(*cache_.get(program.document.at("data"))->data));
  }

 private:
  std::shared_ptr<const Prepared> prepare_to_look(const Program& program) {
    std::shared_ptr<const Prepared> prepared = prepared_.get(program, cache_, options_.backend);
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
           ReplicaResult& result) {
    if (prepared.refusal) {
      result.status = RunStatus::kInvalid;
      result.message = *prepared.refusal;
      return;
    }
    if (prepared.failure) throw input_error(*prepared.failure);
    if (options_.backend == Backend::kFused && !prepared.fused) {
      throw input_error("the fused back end doesn't know: " + *prepared.fused_refusal +
                        "; --backend auto trains such programs with the eager one");
    }
    const ResolvedProgram& program = prepared.program;
    result.backend = to_string(prepared.fused ? Backend::kFused : Backend::kEager);
    if (job.memory_limit > 0 && prepared.bytes > job.memory_limit) {
      result.status = RunStatus::kOutOfMemory;
      result.message = "needs about " + std::to_string(prepared.bytes >> 20) +
                       " MiB; allowed: " + std::to_string(job.memory_limit >> 20) + " MiB";
      return;
    }
    const Hash& hash =
        job.stream == StreamKey::kPrefix ? prepared.stream_hash : prepared.program_hash;
    const RandomKey key = random_key(job.seed, hash, job.replica);
    const PrefixCache::Key prefix{hash, job.seed, job.replica};
    // Not with a time limit: whether one is kept must not depend on other trainings.
    const bool remember = options_.reuse_epochs && !observer && job.time_limit == 0 &&
                          job.stream == StreamKey::kPrefix;
    if (remember) {
      if (const std::optional<ReplicaResult> known = prefixes_.result(prefix, program.epochs)) {
        result = *known;
        result.epochs_reused = program.epochs;
        result.samples_reused = result.samples;
        return;
      }
    }
    const MemoryGate::Share share = gate_.wait(prepared.bytes, job);
    const TrainingRows& rows = prepared.rows;
    const std::unique_ptr<Engine> engine = prepared.fused
                                               ? make_fused_engine(program, rows.training, key)
                                               : make_eager_engine(program, rows.training, key);
    const Clock::time_point start = Clock::now();  // time limits don't count what came before
    TrainingLoop loop(program, rows, key, *engine, {options_.skip_dead_epochs}, observer);
    if (!remember || !loop.has_prefixes()) {
      loop.run(job, start, program.epochs, result);
      loop.finish();
      if (result.status == RunStatus::kTimeout) return;
      loop.measure(result);
      return;
    }
    if (const std::shared_ptr<const TrainingState> state =
            prefixes_.state(prefix, program.epochs)) {
      loop.resume(*state);
      result.epochs_reused = state->epochs;
      result.samples_reused = state->samples;
    }
    const std::int64_t half = program.epochs / 2;
    if (half > result.epochs_reused) {
      if (!loop.run(job, start, half, result)) {  // every weight is NaN
        loop.measure(result);
        return;
      }
      ReplicaResult at_half = result;
      loop.measure(at_half);
      prefixes_.add_result(prefix, half, std::move(at_half));
    }
    const bool whole = loop.run(job, start, program.epochs, result);
    loop.measure(result);
    if (whole && engine->resumable() && prefixes_.has_room(loop.state_bytes())) {
      prefixes_.add_state(prefix, std::make_shared<const TrainingState>(loop.state()));
    }
  }

  TrainerOptions options_;
  DataCache cache_;
  PreparedPrograms prepared_;
  PrefixCache prefixes_;
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

}  // namespace neutra
