#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "training/buffer.h"
#include "training/variables.h"

namespace neutra::training {

/// An optimiser of tf.keras 2.4 (OptimizerV2) on one flat buffer of weights: one vectorised pass a
/// step. States are made at the first step.
///
/// Rows of a wide kernel whose inputs are zero in a batch have gradients of exactly 0, and a step's
/// update of a weight depends on nothing but its own gradient and states and on a few numbers that
/// all weights share. So a row may miss steps and make up for them later, by the same passes with
/// those steps' numbers and with gradients of 0: not a bit of the result changes (defer()).
class Optimizer {
 public:
  /// `variables`: where each variable lies (for clipping by norm); gaps between them hold zeros and
  /// stay so.
  Optimizer(const Json& config, std::vector<Extent> variables);
  virtual ~Optimizer() = default;

  /// Clips the gradients in place, then updates the weights. Both spans have the same size at every
  /// call.
  void step(std::span<float> weights, std::span<float> gradients);
  /// From now on the learning rate is that of the settings (decayed or not) times `factor`.
  void scale_rate(double factor) { rate_factor_ = factor; }
  /// Does a weight that is NaN stay so?
  virtual bool keeps_nan() const { return true; }

  /// From now on steps look only at the rows (of `row` floats) of the variable `table` that the
  /// last catch_up() named: the gradients of the others count as 0, whatever lies there.
  void defer(const Extent& table, std::size_t row);
  /// Brings those rows of the table, ascending, up to date, before their weights are used.
  void catch_up(std::span<float> weights, std::span<const std::uint32_t> rows);
  /// Brings all rows up to date: before anybody looks at other weights, or at state().
  void settle(std::span<float> weights);
  /// Settles; steps are as they were before defer().
  void stop_deferring(std::span<float> weights);
  /// Can rows without a gradient be left to themselves: do their weights stay finite?
  virtual bool deferrable() const { return true; }
  /// Were all weights of the table bounded() after each step with a gradient, and those without one
  /// finite?
  bool stays_bounded() const { return !deferred_ || deferred_->bounded; }
  /// Are all of them finite, with room for the steps that rows may miss?
  static bool bounded(std::span<const float> weights);

  /// The variable `table` is one of embeddings, rows of `row` floats: from now on a step's gradient
  /// belongs to the rows that were looked up, as TensorFlow's IndexedSlices does. No clipping.
  void add_table(const Extent& table, std::size_t row);
  /// Before a step: those rows of the table at `table.begin`, ascending, each once.
  void look_up(std::size_t begin, std::vector<std::uint32_t> rows);

  /// All that the next step depends on besides weights and gradients.
  struct State {
    std::int64_t iterations = 0;
    double product = 1;  ///< of Nadam's momentum schedule
    std::vector<std::vector<float>> accumulators;
  };
  /// Precondition of both: settled.
  State state() const;
  void restore(const State& state);

 protected:
  /// What one step's update has in common for all weights.
  struct Numbers {
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
  virtual Numbers numbers(float rate, std::int64_t /*t*/) { return {rate, 0, 0, 0, 0, 0}; }
  virtual void update(const Numbers& numbers, const Part& part) const = 0;
  /// Do states stay as they are while a weight's gradient is 0, and the weight, too, where it does
  /// at the start?
  virtual bool idles() const { return false; }

  /// What a step does to the rows of a table that weren't looked up.
  enum class OtherRows {
    kUpdate,      ///< the same as to all, with a gradient of 0
    kStates,      ///< that to their states, nothing to the weights
    kLeaveAlone,  ///< nothing
  };
  virtual OtherRows other_rows() const { return OtherRows::kUpdate; }

  void keep_rate() { decay_ = 0; }  ///< for optimisers that don't know `decay`
  /// Accumulator `index` is full of `start` at first.
  void accumulate(std::size_t index, float start = 0) { starts_[index] = start; }
  double& product() { return product_; }

 private:
  struct Missed {
    Numbers numbers;
    bool rests;  ///< changes no weight whose states are those of the start
  };
  struct Deferred {
    Extent table;
    std::size_t row;
    std::vector<std::uint32_t> current;  ///< the rows of the last catch_up()
    std::vector<Missed> missed;          ///< the steps since all rows were up to date
    std::vector<std::uint32_t> done;     ///< for each row, how many of them it has had
    std::vector<std::uint8_t> fresh;     ///< for each row: are its states those of the start?
    std::vector<float> zeros;            ///< gradients
    bool bounded = true;
  };

  /// Embeddings, and the rows that were looked up.
  struct Table {
    Extent extent;
    std::size_t row;
    std::vector<std::uint32_t> rows;
  };

  float clip(std::span<float> gradients) const;
  void update_around_tables(const Numbers& numbers, std::span<float> weights,
                            std::span<const float> gradients);
  template <typename Function>
  void for_parts(const Extent& extent, Function function) const;
  void make_states(std::size_t size);
  Part part(const Extent& extent, std::span<float> weights, const float* gradients);
  /// What a step makes of weights whose gradients are 0 and whose states are those of the start.
  struct Probe {
    bool rests;  ///< leaves them alone
    bool finite;
  };
  Probe probe(const Numbers& numbers) const;
  void prefetch_row(std::size_t row, std::span<float> weights);
  void replay(std::size_t row, std::span<float> weights);

  double learning_rate_, decay_, rate_factor_ = 1;
  double clip_value_, clip_norm_, global_clip_norm_;  ///< 0: off
  std::vector<Extent> variables_;
  std::array<std::optional<float>, 3> starts_;
  std::int64_t iterations_ = 0;
  double product_ = 1;
  std::vector<Buffer> accumulators_;
  std::optional<Deferred> deferred_;
  std::vector<Table> tables_;  ///< ascending
};

/// `optimizer` = {class_name, config}. Throws input_error for an unknown class or a learning-rate
/// schedule.
std::unique_ptr<Optimizer> make_optimizer(const Json& optimizer, std::vector<Extent> variables);
/// How many floats per weight the optimiser keeps.
int optimizer_states(const Json& optimizer);
std::vector<std::string> optimizer_names();

}  // namespace neutra::training
