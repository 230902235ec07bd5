#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fl_adapters/callback_model.h"
#include "training/observer.h"

/// DeepLocalize (Wardat, Le and Rajan, ICSE 2021), after the public behaviour of its Keras
/// callback: docs/methods/deeplocalize.md has every rule, and what `repaired` fixes.
namespace neutra::fl_adapters::deeplocalize {

/// Messages and thresholds: tools/deeplocalize.json.
const MessageTable& message_table();

/// What the tool sees of a layer after a batch.
struct LayerTrace {
  Mean outputs;
  std::size_t weights = 0;              ///< arrays
  std::optional<Mean> kernel;           ///< none for a layer without weights
  std::optional<Mean> gradient;         ///< of the loss with respect to the kernel
  std::optional<Mean> output_gradient;  ///< with respect to the outputs; none: not known
};

/// What the tool sees after a batch.
struct BatchTrace {
  std::int64_t epoch = 0, batch = 0;  ///< from 0; the batch within its epoch
  float loss = 0;
  std::optional<float> accuracy;   ///< over the batch
  std::vector<LayerTrace> layers;  ///< those of the model
};

/// The rules, over the batches of a training in their order.
class Checker {
 public:
  /// Before the first batch.
  explicit Checker(CallbackModel model);
  /// At most one message: the tool stops with it.
  Finding check(const BatchTrace& batch);

 private:
  /// A mean over the batches.
  struct Series {
    std::vector<float> window;  ///< since the last look back
    std::int64_t zeros = 0;
  };
  std::string trouble(Series& series, const Mean& mean) const;
  std::string standstill(Series& series) const;
  Finding found(const char* code, const BatchTrace& batch, std::string detail,
                std::optional<std::size_t> layer = {}) const;

  Finding forward(const BatchTrace& batch);
  Finding weights(const BatchTrace& batch);
  Finding metrics(const BatchTrace& batch);
  Finding delta_weights(const BatchTrace& batch);
  Finding output_gradients(const BatchTrace& batch);

  CallbackModel model_;
  std::int64_t batches_ = 0;  ///< with the one looked at
  bool looks_back_ = false;
  std::vector<Series> forward_, weights_, delta_weights_, output_gradients_;
  Series loss_, accuracy_;
};

/// Makes the traces of a training and hands each to `check`; stops the training when a finding
/// does.
std::unique_ptr<training::Observer> make_watcher(CallbackModel model,
                                                 std::function<Finding(const BatchTrace&)> check);

}  // namespace neutra::fl_adapters::deeplocalize
