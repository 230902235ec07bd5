#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "evaluators/aggregates.h"

namespace neutra::evaluators {

/// The attribute `format` of a file of monitored trainings.
inline constexpr const char* kMonitorFormat = "neutra-monitor";

/// What is monitored of a layer.
enum class Property {
  kGradients,  ///< of its trainable variables, all together
  kWeights,    ///< kernels, and the scale of a batch normalisation
  kBiases      ///< biases, and the offset of a batch normalisation
};
inline constexpr std::size_t kProperties = 3;
std::string_view to_string(Property property);  ///< "gradients", "weights", "biases"

/// A layer with variables.
struct MonitoredLayer {
  int index = 0;  ///< over model.config.layers
  std::string class_name;
  std::array<std::int64_t, kProperties> counts{};  ///< values of each property; 0: it has none
  std::string name = {};                           ///< "dense_2"; "" in files of older versions
  bool operator==(const MonitoredLayer&) const = default;
};

/// What is known at the end of an epoch. `layers` and `dead` are as the run's layers.
struct MonitoredEpoch {
  /// Keras's: "loss", the metric, "val_loss", "val_" and the metric. The same names in each epoch.
  std::map<std::string, double> logs;
  /// Weights and biases at the end of the epoch; gradients of its last full batch, as the step took
  /// them. All NaN where a layer has none, or the epoch was cut off before that batch.
  std::vector<std::array<Aggregates, kProperties>> layers;
  /// Share of the layer's neurons without a gradient in that batch: the gradients of all their
  /// weights and bias are close to zero, relative to the layer's largest. NaN like gradients.
  std::vector<double> dead;
};

/// One training.
struct MonitoredRun {
  int replica = 0;
  std::string status = "ok";  ///< RunStatus
  std::string message;        ///< reason where the status isn't "ok"
  double metric = std::numeric_limits<double>::quiet_NaN();
  std::string loss;  ///< Keras's name: losses of one name can be compared
  std::vector<MonitoredLayer> layers;
  std::vector<MonitoredEpoch> epochs;
};

/// Trainings of one program, as `neutra train --monitor` keeps them (docs/formats/monitor.md).
struct MonitorFile {
  std::string program;       ///< id or name
  std::string variant;       ///< "buggy", "fixed"
  std::string hash;          ///< of the program
  std::string backend;       ///< "eager", "fused"
  std::string metric, goal;  ///< "accuracy", "maximize"
  std::int64_t seed = 0;     ///< of the study
  double close_to_zero = kCloseToZero;
  Json provenance;                 ///< versions, machine
  std::vector<MonitoredRun> runs;  ///< at least one; all with the same layers and loss
};

/// The bytes depend on the content alone. Throws failure() where the file can't be written.
void write_monitor_file(const MonitorFile& content, const std::filesystem::path& file);
/// Throws input_error for what isn't such a file, naming the place in it.
MonitorFile read_monitor_file(const std::filesystem::path& file);

}  // namespace neutra::evaluators
