#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "evaluators/monitor_file.h"
#include "training/curves.h"
#include "training/trainer.h"

namespace neutra::training {

/// Records what a training does, epoch by epoch: the logs, and of each layer aggregates of
/// gradients, weights and biases, and the share of neurons without a gradient
/// (docs/methods/monitors.md).
class TrainingMonitor final : public CurveRecorder {
 public:
  /// `program`: that of the training, with its shapes.
  explicit TrainingMonitor(const program::ResolvedProgram& program,
                           double close_to_zero = evaluators::kCloseToZero);

  void begin(const DataView& data, Probe& probe) override;
  BatchDetail batch_detail(std::int64_t epoch, std::int64_t step) const override;
  void batch_end(const BatchEvent& event) override;
  void epoch_end(const EpochEvent& event) override;

  /// What was recorded, with the result of the training.
  evaluators::MonitoredRun run(const TrainingJob& job, const ReplicaResult& result) const;

 private:
  struct Layer {
    std::size_t position = 0;  ///< in ResolvedProgram::layers
    /// Of each variable, in Keras's order; nullopt: a statistic, which is passed over.
    std::vector<std::optional<evaluators::Property>> properties;
    /// Of each trainable variable: is its last extent that of the neurons?
    std::vector<bool> by_neuron;
    std::size_t neurons = 0;
  };
  evaluators::Aggregates aggregates_of(const std::vector<std::span<const float>>& parts);
  /// `largest`: magnitude of the layer's gradients.
  double dead_neurons(const Layer& layer, const LayerView& view, double largest);

  const double close_to_zero_;
  std::vector<Layer> layers_;
  evaluators::MonitoredRun run_;
  std::int64_t steps_per_epoch_ = 1, watched_step_ = 0;  ///< of an epoch
  evaluators::MonitoredEpoch next_;                      ///< the epoch that is running
  std::vector<float> values_;
  std::vector<char> alive_;
};

}  // namespace neutra::training
