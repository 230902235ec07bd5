#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "program/rate_schedule.h"
#include "training/buffer.h"
#include "training/variables.h"

namespace neutra::training {

/// An optimiser of tf.keras 2.4 (OptimizerV2) on one flat buffer of weights: one vectorised pass a
/// step. Its accumulators are made at the first step. Derived classes, one file each, say what a
/// step does; this class keeps the accumulators, clips gradients, and does lazy updates.
///
/// Lazy updates. Rows of a wide kernel whose inputs are zero in a batch have gradients of exactly
/// 0, and a step's update of a weight depends on nothing but its own gradient and accumulators and
/// on a few coefficients that all weights share. So a row may miss steps and catch up later, by the
/// same passes with those steps' coefficients and with gradients of 0: not a bit of the result
/// changes (begin_lazy()).
class Optimizer {
 public:
  /// `config`: Keras's, without a learning-rate schedule, and neutra's rules, weight decay and
  /// `schedule` (program::schedule_of()). `variables`: where each variable lies
  /// (for clipping by norm); gaps between them hold zeros and stay so.
  Optimizer(const Json& config, std::vector<Extent> variables);
  virtual ~Optimizer() = default;

  /// Clips the gradients in place, then updates the weights. Both spans have the same size at every
  /// call.
  void step(std::span<float> weights, std::span<float> gradients);
  /// From now on the learning rate is that of the settings (decayed or not) times `factor`.
  void scale_rate(double factor) { rate_factor_ = factor; }
  /// The variables that weight decay shrinks, ascending; at first all.
  void decay_only(std::vector<Extent> variables) { decayed_ = std::move(variables); }
  /// Before the steps of an epoch, counted from 0.
  void begin_epoch(std::int64_t epoch);
  /// From now on the learning rate is that of settings and schedule times `factor`.
  void reduce_rate(double factor) { reduced_ = factor; }
  /// Does a weight that is NaN stay so?
  virtual bool keeps_nan() const { return true; }

  /// From now on steps look only at the rows (of `row` floats) of the variable `table` that the
  /// last catch_up() named: the gradients of the others count as 0, whatever lies there.
  void begin_lazy(const Extent& table, std::size_t row);
  /// Brings those rows of the table, ascending, up to date, before their weights are used.
  void catch_up(std::span<float> weights, std::span<const std::uint32_t> rows);
  /// Brings all rows up to date: before anybody looks at other weights, or at state().
  void catch_up_all(std::span<float> weights);
  /// Brings all rows up to date; steps are as they were before begin_lazy().
  void end_lazy(std::span<float> weights);
  /// Are lazy updates exact: do the weights of rows without a gradient stay finite?
  virtual bool can_be_lazy() const { return weight_decay_ == 0; }
  /// Were all weights of the table bounded() after each step with a gradient, and those without one
  /// finite?
  bool stays_bounded() const { return !lazy_ || lazy_->bounded; }
  /// Are all of them finite, with room for the steps that rows may miss?
  static bool bounded(std::span<const float> weights);

  /// The variable `table` is one of embeddings, rows of `row` floats: from now on a step's gradient
  /// belongs to the rows that were looked up, as TensorFlow's IndexedSlices does. No clipping.
  void add_embedding(const Extent& table, std::size_t row);
  /// Before a step: those rows of the embeddings at `table.begin`, ascending, each once.
  void look_up(std::size_t begin, std::vector<std::uint32_t> rows);

  /// All that the next step depends on besides weights and gradients.
  struct State {
    std::int64_t iterations = 0;
    double product = 1;  ///< of Nadam's momentum schedule
    std::vector<std::vector<float>> accumulators;
  };
  /// Precondition of both: no row has missed a step (catch_up_all()).
  State state() const;
  void restore(const State& state);

 protected:
  static constexpr double kEpsilon = 1e-7;  ///< keras.backend.epsilon()
  /// `config[key]` rounded to float32; `fallback` where it is missing or null.
  static float real(const Json& config, const char* key, double fallback) {
    return static_cast<float>(number_or(config, key, fallback));
  }

  /// Whose formulas they are: those of tf.keras 2.4; of Keras since 2.11 (keras/src/optimizers); of
  /// PyTorch (torch/optim).
  enum class Rules { kKeras, kKeras3, kTorch };
  Rules rules() const { return rules_; }
  bool is_torch() const { return rules_ == Rules::kTorch; }

  /// What one step's update has in common for all weights.
  struct StepCoefficients {
    float rate = 0;  ///< scaled and decayed; for Adam and Adamax with bias correction
    float schedule = 0, next_schedule = 0;                             ///< Nadam: u_t, u_(t+1)
    float gradient_scale = 0, momentum_scale = 0, variance_scale = 0;  ///< 1 - product, ...
  };
  /// Some of the weights, with their gradients and accumulators.
  struct Part {
    std::size_t size;
    float* w;
    const float* g;
    std::array<float*, 3> accumulators;  ///< null where there is none
  };
  /// `rate` is the scaled and decayed learning rate, `t` counts from 1. Called once a step.
  virtual StepCoefficients coefficients(float rate, std::int64_t /*t*/) {
    return {rate, 0, 0, 0, 0, 0};
  }
  /// Updates some of the weights and their accumulators.
  virtual void update(const StepCoefficients& step, const Part& part) const = 0;
  /// Do accumulators stay as they are while a weight's gradient is 0, and the weight, too, where it
  /// does at the start?
  virtual bool idles() const { return false; }

  /// What a step does to the rows of embeddings that weren't looked up, by the rules of tf.keras
  /// 2.4; by others it updates them.
  enum class RowsNotLookedUp {
    kUpdate,      ///< the same as to all, with a gradient of 0
    kAccumulate,  ///< that to their accumulators, nothing to the weights
    kLeaveAlone,  ///< nothing
  };
  virtual RowsNotLookedUp rows_not_looked_up() const { return RowsNotLookedUp::kUpdate; }

  void ignore_decay() { decay_ = 0; }  ///< for optimisers that don't know `decay`
  /// Accumulator `index` is full of `start` at first.
  void accumulate(std::size_t index, float start = 0) { starts_[index] = start; }
  double& product() { return product_; }

 private:
  /// A step that some rows of the lazy table have not had.
  struct Missed {
    StepCoefficients step;
    bool rests;  ///< changes no weight whose accumulators are those of the start
  };
  /// The variable with lazy updates.
  struct LazyTable {
    Extent table;
    std::size_t row;
    std::vector<std::uint32_t> current;  ///< the rows of the last catch_up()
    std::vector<Missed> missed;          ///< the steps since all rows were up to date
    std::vector<std::uint32_t> done;     ///< for each row, how many of them it has had
    std::vector<std::uint8_t> fresh;     ///< for each row: are its accumulators those of the start?
    std::vector<float> zeros;            ///< gradients
    bool bounded = true;
  };
  /// Embeddings, and the rows that were looked up.
  struct Embedding {
    Extent extent;
    std::size_t row;
    std::vector<std::uint32_t> rows;
  };
  /// What a step makes of weights whose gradients are 0 and whose accumulators are those of the
  /// start.
  struct Probe {
    bool rests;  ///< leaves them alone
    bool finite;
  };

  float clip(std::span<float> gradients) const;
  float clip_globally(std::span<float> gradients) const;
  std::span<const float> decay_weights(double rate, std::span<float> weights,
                                       std::span<const float> gradients);
  void update_around_embeddings(const StepCoefficients& step, std::span<float> weights,
                                std::span<const float> gradients);
  template <typename Function>
  void for_parts(const Extent& extent, Function function) const;
  void make_accumulators(std::size_t size);
  Part part(const Extent& extent, std::span<float> weights, const float* gradients);

  // lazy_updates.cpp
  void give_other_rows(float gradient, std::span<float> weights, std::span<float> gradients);
  void note_step(const StepCoefficients& step, std::span<float> weights);
  Probe probe(const StepCoefficients& step) const;
  void prefetch_row(std::size_t row, std::span<float> weights);
  void replay(std::size_t row, std::span<float> weights);

  Rules rules_;
  double learning_rate_, decay_, rate_factor_ = 1;
  std::optional<program::LearningRateSchedule> schedule_;
  double scheduled_ = 1, reduced_ = 1;                ///< what else the rate is multiplied with
  double clip_value_, clip_norm_, global_clip_norm_;  ///< 0: off
  double weight_decay_;                               ///< 0: off
  bool decoupled_;                                    ///< it shrinks weights, not gradients
  std::vector<Extent> variables_, decayed_;
  std::vector<float> penalised_;  ///< gradients with what weight decay adds
  std::array<std::optional<float>, 3> starts_;
  std::int64_t iterations_ = 0;
  double product_ = 1;
  std::vector<Buffer> accumulators_;
  std::optional<LazyTable> lazy_;
  std::vector<Embedding> embeddings_;  ///< ascending
};

}  // namespace neutra::training
