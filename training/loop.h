#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "training/callbacks.h"
#include "training/engine.h"
#include "training/observer.h"
#include "training/trainer.h"

namespace neutra::training {

/// The rows of a program's training, of the validation that callbacks and observers watch, and of
/// the evaluation that gives the metric.
struct TrainingRows {
  Rows training, validation, test, holdout;
  TargetScale target_scale;
};
/// The rows of a data set by what the program does with them; they live as long as `data`.
TrainingRows training_rows(const program::ResolvedProgram& program, const Dataset& data,
                           const SparseDataset& sparse = {});

/// A training as it stood after some epochs: what another one with the same key can go on from.
struct TrainingState {
  std::int64_t epochs = 0, steps = 0, samples = 0;
  std::vector<float> weights;
  std::vector<float> gradients;  ///< kept for the next step
  Optimizer::State optimizer;
  /// What the state takes in memory.
  std::size_t bytes() const;
};

/// The key of the random numbers with which a program without fit.loop.eval_mode evaluates its
/// trained model; `key`: of the training.
RandomKey evaluation_key(RandomKey key);

/// The training of one job with an engine: epochs, batches, callbacks, observer, metric.
class TrainingLoop {
 public:
  struct Options {
    bool skip_dead_epochs = true;  ///< stop once every weight is NaN: the result is known (exact)
    KerasRelease keras = KerasRelease::kTf24;
    std::vector<std::string> compiled = {};  ///< metrics that an observer's logs have, too
  };
  TrainingLoop(const program::ResolvedProgram& program, const TrainingRows& rows, RandomKey key,
               Engine& engine, Options options, Observer* observer);

  /// Can another training with more epochs go on from this one's state, and one with fewer be read
  /// off it? Not where anything looks at the epochs, or at the training while it runs.
  bool has_prefixes() const;
  /// Goes on from there instead of from the start.
  void resume(const TrainingState& state);
  TrainingState state();
  std::size_t state_bytes();                      ///< of state()
  std::int64_t epochs() const { return epoch_; }  ///< that were finished

  /// Trains up to `epochs` of the program's; false: it ended before (callback, observer, time
  /// limit, every weight NaN).
  bool run(const TrainingJob& job, std::chrono::steady_clock::time_point start, std::int64_t epochs,
           ReplicaResult& result);
  /// The metric on the hold-out rows. `outputs`: gets the model's outputs for them, row-major.
  void measure(ReplicaResult& result, std::vector<float>* outputs = nullptr);
  /// Ends the training: restores what callbacks want.
  void finish();

 private:
  class EngineProbe;
  bool needs_loss() const;
  Engine::Wanted all() const;  ///< that a step can deliver and the observer may look at
  std::vector<LayerView> views(bool gradients, bool activations);
  /// Of the rows of this epoch so far. `whole`: the epoch has ended.
  Logs logs(bool whole) const;
  void begin_epoch();
  bool step(std::span<const std::int64_t> rows);
  bool end_epoch();
  void validate(Logs& logs);
  /// As Engine::evaluate() does, or as a step would, in the program's batches, where the loop knows
  /// no inference mode. `moves`: averages stay moved.
  double evaluate(const Rows& rows, const OutputListener& listener, std::int64_t loss_rows,
                  RandomKey key, bool moves);

  using Metrics = std::map<std::string, Metric>;
  Metrics logged_metrics() const;

  const program::ResolvedProgram& program_;
  TrainingRows rows_;
  RandomKey key_;
  Engine& engine_;
  Options options_;
  Observer* observer_;
  Callbacks callbacks_;
  bool validates_on_test_ = false;   ///< for the observer alone
  std::vector<std::string> logged_;  ///< metrics that callbacks or the observer want each epoch
  std::vector<std::int64_t> order_;

  std::int64_t epoch_ = 0, steps_ = 0, samples_ = 0;
  double reduced_ = 1;  ///< what callbacks have multiplied the learning rate with
  double loss_sum_ = 0;
  std::int64_t rows_seen_ = 0;
  Metrics metrics_;
};

}  // namespace neutra::training
