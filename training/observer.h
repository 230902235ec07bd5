#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace neutra {

/// The rows of a training; valid until it ends.
struct DataView {
  Shape row;                          ///< extents of one row of features
  std::span<const float> training;    ///< features, row-major, in the order of the data set
  std::span<const float> validation;  ///< likewise, seen after each epoch; empty: none
  std::int64_t batch_size = 0;        ///< of training and validation
};

/// Views into one layer of a training; valid during the call only. Weights and gradients are in
/// Keras's order and layout (kernel, bias, ...), concatenated by variable.
struct LayerView {
  int index = 0;  ///< over model.config.layers
  std::string_view class_name;
  std::vector<std::span<const float>> weights;  ///< after the update
  std::vector<std::span<const float>>
      gradients;  ///< of this batch, before clipping is undone; trainable variables
  std::span<const float> activations;  ///< the layer's outputs for this batch
};

struct BatchEvent {
  std::int64_t epoch = 0, step = 0;  ///< from 0; `step` over the whole training
  std::int64_t rows = 0;
  double loss = 0;  ///< mean over the batch, with regularisation
  std::span<const LayerView> layers;
};

struct EpochEvent {
  std::int64_t epoch = 0;
  std::map<std::string, double> logs;  ///< Keras's: "loss", the metric, "val_loss", "val_" metric
  std::span<const LayerView> layers;   ///< without gradients and activations
};

/// Watches a training. All calls come from the thread that trains. A training without an observer
/// pays nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Asked before the training: true has a program without a validation split validated on its test
  /// rows.
  virtual bool wants_validation() const { return false; }
  virtual void begin(const DataView&) {}
  virtual void batch_end(const BatchEvent&) {}
  virtual void epoch_end(const EpochEvent&) {}
  /// Asked after every batch and epoch: true ends the training as if its epochs were over.
  virtual bool stop() { return false; }
};

/// Summary of an array, in double precision. Values that aren't finite are counted and left out of
/// the rest.
struct Statistics {
  std::size_t count = 0, nan = 0, infinite = 0, zeros = 0;
  double mean = 0, stddev = 0, min = 0, max = 0, mean_abs = 0;
};
Statistics statistics(std::span<const float> values);

}  // namespace neutra
