#include "training/local_trainer.h"

#include <omp.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "program/compiled_metrics.h"
#include "program/layer.h"
#include "training/data_cache.h"
#include "training/engine_predictor.h"
#include "training/finished_trainings.h"
#include "training/flush_denormals.h"
#include "training/fused/engine.h"
#include "training/libraries.h"
#include "training/loop.h"
#include "training/memory_gate.h"
#include "training/metrics.h"
#include "training/on_torch.h"
#include "training/prefix_cache.h"
#include "training/prepared_program.h"
#include "training/trained_mutations.h"

namespace neutra::training {
namespace {

using Clock = std::chrono::steady_clock;

/// Changes whenever a program's metrics do, so that no store mixes results of different rules.
constexpr const char* kSemantics = "3";

constexpr const char* kNoMemory =
    "the machine has no memory left for this training; use fewer --workers or set --memory-limit";

/// What LibTorch's exceptions say, without the places in its code.
std::string without_backtrace(const std::string& text) {
  return text.substr(0, text.find("\nException raised from "));
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
        prepared_(options_.data_path),
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
    for (program::ResolvedLayer& layer : rest.layers) {  // positions are counted from `first` now
      if (&layer == &rest.layers.front()) layer.inputs.clear();
      for (std::size_t& input : layer.inputs) input -= first;
    }
    rest.input_shape = rest.layers.front().input_shape;
    assert(inputs.row_size() == program::element_count(rest.input_shape));
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
        load_torch(*prepared);
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
      throw;  // interrupted, or for the user to fix
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

  /// One training of a prepared program.
  struct Run {
    const TrainingJob& job;
    const Prepared& prepared;
    RandomKey key;
    PrefixCache::Key stem;       ///< of the trainings that differ in their epochs only
    FinishedTrainings::Key own;  ///< of the training itself
    bool shared;                 ///< may it share results with trainings of other programs?
    bool remember;               ///< by its prefixes, too
    ReplicaResult& result;
    TrainedModel* model;  ///< null where nobody wants it

    /// Do trained.mutations make another model of the trained one?
    bool mutated() const { return prepared.evaluated != nullptr; }
  };

  Run begin(const TrainingJob& job, const Prepared& prepared, bool observed, ReplicaResult& result,
            TrainedModel* model) const {
    const bool prefix = job.stream == StreamKey::kPrefix;
    const Hash& hash = prefix ? prepared.stream_hash : prepared.independent_hash;
    // Not with a time limit: whether one is kept must not depend on other trainings.
    const bool shared = !observed && job.time_limit == 0 && job.keras == KerasRelease::kTf24;
    return {job,
            prepared,
            random_key(job.seed, hash, job.replica),
            {hash, job.seed, job.replica},
            {hash, job.seed, job.replica, prepared.program.epochs},
            shared,
            options_.reuse_epochs && shared && prefix,
            result,
            model};
  }

  /// Is there a reason not to train the program? The result says it then.
  bool refused(const TrainingJob& job, const Prepared& prepared, ReplicaResult& result) const {
    if (prepared.refusal) {
      result.status = RunStatus::kInvalid;
      result.message = *prepared.refusal;
      return true;
    }
    if (prepared.failure) throw input_error(*prepared.failure);
    require_backend(prepared);
    if (prepared.evaluated) require_backend(*prepared.evaluated);
    result.backend = to_string(prepared.fused ? Backend::kFused : Backend::kEager);
    if (job.memory_limit > 0 && prepared.bytes > job.memory_limit) {
      result.status = RunStatus::kOutOfMemory;
      result.message =
          "needs about " + size_text(prepared.bytes) + "; allowed: " + size_text(job.memory_limit);
      return true;
    }
    return false;
  }

  void run(const TrainingJob& job, const Prepared& prepared, Observer* observer,
           ReplicaResult& result, TrainedModel* model) {
    if (refused(job, prepared, result)) return;
    const program::ResolvedProgram& program = prepared.program;
    const Run run = begin(job, prepared, observer != nullptr, result, model);
    if (run.remember && !run.mutated() && model == nullptr) {
      if (const std::optional<ReplicaResult> known = prefixes_.result(run.stem, program.epochs)) {
        result = *known;
        result.epochs_reused = program.epochs;
        result.samples_reused = result.samples;
        return;
      }
    }
    const MemoryGate::Share share = gate_.wait(prepared.bytes, job);
    if (run.mutated() && run.shared) {
      if (const FinishedTrainings::Pointer known = finished_.find(run.own)) {
        result = known->result;
        result.epochs_reused = known->epochs;
        result.samples_reused = result.samples;
        evaluate(run, *known);
        return;
      }
    }
    const TrainingRows& rows = prepared.rows;
    std::unique_ptr<Engine> engine = make_engine(program, rows.training, run.key, prepared.fused);
    if (prepared.given_weights) give_weights(*prepared.given_weights, engine->weights());
    const Clock::time_point start = Clock::now();  // time limits don't count what came before
    TrainingLoop loop(
        program, rows, run.key, *engine,
        {options_.skip_dead_epochs, job.keras,
         observer ? logged_metrics(*job.program, prepared.data->info) : std::vector<std::string>()},
        observer);
    if (run.remember && loop.has_prefixes()) {
      train_from_prefix(run, loop, *engine, start);
    } else {
      loop.run(job, start, program.epochs, result);
      loop.finish();
      if (result.status == RunStatus::kTimeout) return;
    }
    complete(run, loop, std::move(engine));
  }

  /// Trains from the longest prefix that is known, and remembers the metric at half time and the
  /// state at the end.
  void train_from_prefix(const Run& run, TrainingLoop& loop, Engine& engine,
                         Clock::time_point start) {
    const std::int64_t epochs = run.prepared.program.epochs;
    ReplicaResult& result = run.result;
    if (const std::shared_ptr<const TrainingState> state = prefixes_.state(run.stem, epochs)) {
      loop.resume(*state);
      result.epochs_reused = state->epochs;
      result.steps = state->steps;
      result.samples = result.samples_reused = state->samples;
    }
    const std::int64_t half = epochs / 2;
    if (!run.mutated() && half > result.epochs_reused) {
      if (!loop.run(run.job, start, half, result)) return;  // every weight is NaN
      ReplicaResult at_half = result;
      loop.measure(at_half);
      prefixes_.add_result(run.stem, half, std::move(at_half));
    }
    if (loop.run(run.job, start, epochs, result) && engine.resumable() &&
        prefixes_.has_room(loop.state_bytes())) {
      prefixes_.add_state(run.stem, std::make_shared<const TrainingState>(loop.state()));
    }
  }

  /// Takes the metric of a training that came to its end.
  void complete(const Run& run, TrainingLoop& loop, std::unique_ptr<Engine> engine) {
    if (!run.mutated()) loop.measure(run.result, run.model ? &run.model->outputs : nullptr);
    if (!run.mutated() && run.model == nullptr) return;
    const auto training = std::make_shared<const FinishedTraining>(FinishedTraining{
        run.result, engine->weights().by_layer(), loop.epochs() + run.result.epochs_saved});
    engine.reset();  // its memory, before another engine takes some
    if (run.mutated() && run.shared) finished_.add(run.own, training);
    evaluate(run, *training);
  }

  /// What a program must have that the fused back end doesn't know.
  void load_torch(const Prepared& prepared) const {
    const std::optional<TorchProblem>& problem = torch_problem();
    if (!problem) return;
    const bool chosen = options_.backend == Backend::kEager || !prepared.fused_refusal;
    throw failure(
        (chosen ? "" : "a program needs the eager back end (" + *prepared.fused_refusal + "): ") +
        problem->text() + (chosen ? "" : "; --backend fused leaves such programs out"));
  }

  void require_backend(const Prepared& prepared) const {
    if (options_.backend == Backend::kFused && prepared.fused_refusal) {
      throw input_error("the fused back end doesn't know: " + *prepared.fused_refusal +
                        "; --backend auto trains such programs with the eager one");
    }
  }

  /// What trained.mutations make of a trained model, with its metric; any other as it is.
  static void evaluate(const Run& run, const FinishedTraining& training) {
    const Prepared& prepared = run.prepared;
    program::ModelWeights weights = training.weights;
    if (prepared.evaluated) {
      mutate_weights(prepared.program, weights);
      weights = weights_of(*prepared.structure, weights);
      const program::ResolvedProgram program = without_initial_values(prepared.evaluated->program);
      const TrainingRows& rows = prepared.evaluated->rows;
      const auto engine = make_engine(program, rows.training, run.key, prepared.evaluated->fused);
      engine->weights().assign(weights);
      TrainingLoop(program, rows, run.key, *engine, {}, nullptr)
          .measure(run.result, run.model ? &run.model->outputs : nullptr);
    }
    if (run.model == nullptr) return;
    if (prepared.structure) run.model->program = prepared.structure->program;
    run.model->weights = std::move(weights);
    run.model->key = run.key;
    run.model->epochs = training.epochs;
  }

  TrainerOptions options_;
  DataCache cache_;
  PreparedPrograms prepared_;
  PrefixCache prefixes_;
  FinishedTrainings finished_;
  MemoryGate gate_;
};

}  // namespace

std::unique_ptr<LocalTrainer> make_local_trainer(TrainerOptions options) {
  return std::make_unique<Local>(std::move(options));
}

}  // namespace neutra::training
