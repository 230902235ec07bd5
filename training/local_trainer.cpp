#include "training/local_trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
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

/// A data set with what validation needs to know of it.
struct Resident {
  std::shared_ptr<const Dataset> data;
  DataInfo info;
  /// Made when it is wanted, for all trainings.
  const SparseDataset& sparse() const {
    std::call_once(once_, [this] { sparse_ = SparseDataset(*data); });
    return sparse_;
  }

 private:
  mutable std::once_flag once_;
  mutable SparseDataset sparse_;
};

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

std::optional<std::string> refusal_by_keras(const Program& program, const Resident& data) {
  const std::vector<Problem> problems = validate(program.document, &data.info);
  if (problems.empty()) return std::nullopt;
  std::string text;
  for (const Problem& problem : problems) text += (text.empty() ? "" : "; ") + to_string(problem);
  return text;
}

class Local final : public LocalTrainer {
 public:
  explicit Local(TrainerOptions options)
      : options_(std::move(options)), cache_(options_.data_path), prefixes_(options_.state_bytes) {
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
    return refusal_by_keras(program, cache_.get(program.document.at("data")));
  }

  std::string fingerprint(const Program& program) override {
    std::string text =
        std::string(to_string(options_.backend)) + " " + kSemantics + ", " + library_fingerprint();
    if (options_.backend != Backend::kEager) text += ", fused " + fused_fingerprint();
    return text + ", data " + to_string(digest(*cache_.get(program.document.at("data")).data));
  }

 private:
  void run(const TrainingJob& job, const Resident& data, Clock::time_point start,
           Observer* observer, ReplicaResult& result) {
    if (const std::optional<std::string> reason = refusal_by_keras(*job.program, data)) {
      result.status = RunStatus::kInvalid;
      result.message = *reason;
      return;
    }
    const ResolvedProgram program = resolve(*job.program, &data.info);
    TrainingRows rows = training_rows(program, *data.data);
    bool fused = options_.backend != Backend::kEager;
    if (fused) {
      if (const std::optional<std::string> reason = fused_refusal(program, rows.training)) {
        if (options_.backend == Backend::kFused) {
          throw input_error("the fused back end doesn't know: " + *reason +
                            "; --backend auto trains such programs with the eager one");
        }
        fused = false;
      }
    }
    result.backend = to_string(fused ? Backend::kFused : Backend::kEager);
    const std::uint64_t bytes =
        fused ? fused_bytes(program, rows.training) : eager_bytes(program, rows.training);
    if (job.memory_limit > 0 && bytes > job.memory_limit) {
      result.status = RunStatus::kOutOfMemory;
      result.message = "needs about " + std::to_string(bytes >> 20) +
                       " MiB; allowed: " + std::to_string(job.memory_limit >> 20) + " MiB";
      return;
    }
    const Hash hash =
        job.stream == StreamKey::kPrefix ? stream_hash(*job.program) : program_hash(*job.program);
    const RandomKey key = random_key(job.seed, hash, job.replica);
    const PrefixCache::Key prefix{hash, job.seed, job.replica};
    const bool remember = options_.reuse_epochs && !observer && job.stream == StreamKey::kPrefix;
    if (remember) {
      if (const std::optional<ReplicaResult> known = prefixes_.result(prefix, program.epochs)) {
        result = *known;
        result.epochs_reused = program.epochs;
        return;
      }
    }
    if (fused) rows = training_rows(program, *data.data, data.sparse());
    const std::unique_ptr<Engine> engine = fused ? make_fused_engine(program, rows.training, key)
                                                 : make_eager_engine(program, rows.training, key);
    TrainingLoop loop(program, rows, key, *engine, {options_.skip_dead_epochs}, observer);
    if (!remember || !loop.has_prefixes()) {
      loop.run(job, start, program.epochs, result);
      if (result.status == RunStatus::kTimeout) return;
      loop.finish();
      loop.measure(result);
      return;
    }
    if (const std::shared_ptr<const TrainingState> state =
            prefixes_.state(prefix, program.epochs)) {
      loop.resume(*state);
      result.epochs_reused = state->epochs;
    }
    const std::int64_t half = program.epochs / 2;
    if (half > result.epochs_reused) {
      const bool whole = loop.run(job, start, half, result);
      if (result.status == RunStatus::kTimeout) return;
      if (!whole) {  // every weight is NaN
        loop.measure(result);
        return;
      }
      ReplicaResult at_half = result;
      loop.measure(at_half);
      at_half.steps = at_half.samples = 0;
      prefixes_.add_result(prefix, half, std::move(at_half));
    }
    const bool whole = loop.run(job, start, program.epochs, result);
    if (result.status == RunStatus::kTimeout) return;
    loop.measure(result);
    if (whole) prefixes_.add_state(prefix, std::make_shared<const TrainingState>(loop.state()));
  }

  TrainerOptions options_;
  DataCache cache_;
  PrefixCache prefixes_;
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
