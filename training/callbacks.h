#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace neutra::training {

/// What Keras hands its callbacks at the end of an epoch: "loss", "accuracy", "val_loss", ...
using Logs = std::map<std::string, double>;

/// Keras's EarlyStopping (tf.keras 2.4 callbacks.py): an epoch counts as better where current -
/// delta is better than the best so far, delta being min_delta with the sign of the direction. The
/// baseline takes the place of the first best. Mode auto maximises what is named after an accuracy.
/// A monitored value that isn't in the logs is ignored. Monitors are canonical names of metrics, as
/// ResolvedProgram has them.
class EarlyStopping {
 public:
  /// `config`: Keras's.
  explicit EarlyStopping(const Json& config);
  /// True where training ends after this epoch. `weights` are remembered where the best are to be
  /// restored.
  bool epoch_end(const Logs& logs, std::span<const float> weights);
  /// Weights to go back to after the stop; empty: keep the last.
  std::span<const float> restored() const;
  const std::string& monitor() const { return monitor_; }

 private:
  std::string monitor_;
  bool maximize_;
  double min_delta_;
  std::int64_t patience_, wait_ = 0;
  bool restore_;
  double best_;
  bool stopped_ = false;
  std::vector<float> best_weights_;
};

/// Keras's ReduceLROnPlateau (tf.keras 2.4 callbacks.py): after `patience` epochs that aren't
/// better the rate is multiplied with `factor`, down to `min_lr`; then `cooldown` epochs don't
/// count. Better is what beats the best by more than min_delta or, with `relative`, by more than
/// that share of the best (PyTorch, torch/optim/lr_scheduler.py). Mode auto maximises what is named
/// after an accuracy. A monitored value that isn't in the logs is ignored.
class ReduceOnPlateau {
 public:
  /// `config`: Keras's, and `relative`.
  explicit ReduceOnPlateau(const Json& config);
  /// The rate after this epoch, which had `rate`.
  double epoch_end(const Logs& logs, double rate);
  const std::string& monitor() const { return monitor_; }

 private:
  bool is_better(double value) const;
  std::string monitor_;
  bool maximize_, relative_;
  double factor_, min_delta_, min_rate_, best_;
  std::int64_t patience_, cooldown_, wait_ = 0, cooling_ = 0;
};

/// The callbacks of a program that change its result.
struct Callbacks {
  /// `callbacks`: the list fit.callbacks, each {class_name, config}.
  explicit Callbacks(const Json& callbacks);
  std::vector<EarlyStopping> early_stopping;
  std::vector<ReduceOnPlateau> plateaus;
  bool terminate_on_nan = false;

  /// Does any of them look at epochs' logs?
  bool watch_epochs() const { return !early_stopping.empty() || !plateaus.empty(); }
  /// Does any of them look at `name`, or at val_`name`?
  bool monitors(const std::string& name) const;
  /// Does one look at a metric of the validation rows ("val_...")?
  bool monitors_validation() const;
};

}  // namespace neutra::training
