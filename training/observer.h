#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace neutra::training {

/// The rows of a training; valid until it ends. Arrays are row-major, in the order of the data set.
struct DataView {
  program::Shape row;                 ///< extents of one row of features
  std::span<const float> training;    ///< features
  std::span<const float> validation;  ///< features of the rows seen after each epoch; empty: none
  std::int64_t batch_size = 0;        ///< of training and validation
  program::Shape target;              ///< extents of one row's target; {1} for a single value
  std::span<const float> training_targets, validation_targets;
  std::int64_t epochs = 0;  ///< as programmed
};

/// Views into one layer of a training; valid until the next call of a probe, at most during the
/// call that got it. Weights and gradients are in Keras's order and layout (kernel, bias, ...), one
/// span for each variable.
struct LayerView {
  int index = 0;  ///< over model.config.layers
  std::string_view class_name;
  std::vector<std::span<const float>> weights;  ///< after the update
  /// Of trainable variables, as the step took them; those of a probe are of its rows alone.
  std::vector<std::span<const float>> gradients;
  /// The layer's outputs, row-major. A layer's own activation is part of it.
  std::span<const float> activations;
  /// Gradient of the batch's loss by these outputs, where the observer wants them; empty for a
  /// layer behind which no gradient flows, and for the last one where the loss works on the input
  /// of its activation.
  std::span<const float> output_gradient;
};

/// What batch_end() gets; each includes those before.
enum class BatchDetail {
  kNone,        ///< it isn't called: the batch costs nothing
  kLogs,        ///< loss and logs
  kWeights,     ///< weights and gradients
  kActivations  ///< outputs of the layers, as the step computed them (dropout included)
};

struct BatchEvent {
  std::int64_t epoch = 0, step = 0;  ///< from 0; `step` over the whole training
  std::int64_t rows = 0;
  double loss = 0;  ///< mean over the batch, with regularisation
  /// Keras's logs at the end of a batch: "loss", the metric and those that are compiled, over the
  /// epoch's rows so far.
  std::map<std::string, double> logs;
  std::span<const LayerView> layers;
  class Probe* probe = nullptr;  ///< never null; a question to it ends the views above
};

/// Looks at a model with its weights as they are. Changes nothing: a training goes on as if it had
/// not been asked.
class Probe {
 public:
  struct Answer {
    std::vector<LayerView> layers;
    double loss = 0;  ///< mean over the rows, with regularisation
    /// The model's outputs and the targets, row-major.
    std::span<const float> outputs, targets;
  };
  virtual ~Probe() = default;
  /// As in inference (no dropout; moving averages): activations, loss, outputs; no gradients.
  /// `rows`: at least one, at most max_rows(), positions among the training rows.
  virtual Answer forward(std::span<const std::int64_t> rows) = 0;
  /// As a training step on those rows would take them: with gradients, dropout and batch
  /// statistics.
  virtual Answer backward(std::span<const std::int64_t> rows) = 0;
  /// Rows that one question may be about: a batch, or all training rows if they are fewer.
  virtual std::int64_t max_rows() const = 0;
};

/// What epoch_end() gets.
struct EpochEvent {
  std::int64_t epoch = 0;
  /// Keras's: "loss", the metric and those that are compiled, each with "val_" for the validation.
  std::map<std::string, double> logs;
  std::span<const LayerView> layers;  ///< without gradients and activations
  Probe* probe = nullptr;             ///< never null
};

/// Watches a training. All calls come from the thread that trains. A training without an observer
/// pays nothing, one with an observer for what it asks.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Asked before the training: true has a program without a validation split validated on its test
  /// rows.
  virtual bool wants_validation() const { return false; }
  /// Asked before the training: true has it run on the eager back end, which alone has them,
  /// whichever was chosen.
  virtual bool wants_output_gradients() const { return false; }
  /// Before the first batch.
  virtual void begin(const DataView&, Probe&) {}
  /// Asked before each batch; `step` counts from 0 over the whole training.
  virtual BatchDetail batch_detail(std::int64_t /*epoch*/, std::int64_t /*step*/) const {
    return BatchDetail::kNone;
  }
  virtual void batch_end(const BatchEvent&) {}
  virtual void epoch_end(const EpochEvent&) {}
  /// Asked after every batch and epoch: true ends the training as if its epochs were over.
  virtual bool stop() { return false; }
  /// After the last epoch or whatever ended the training (a time limit, the observer itself), with
  /// the weights that the program ends with.
  virtual void end(Probe&) {}
};

/// Summary of an array, in double precision. Values that aren't finite are counted and left out of
/// the rest.
struct Statistics {
  std::size_t count = 0, nan = 0, infinite = 0, zeros = 0;
  double mean = 0, stddev = 0, min = 0, max = 0, mean_abs = 0;
};
/// All 0 but the counts where no value is finite.
Statistics statistics(std::span<const float> values);

}  // namespace neutra::training
