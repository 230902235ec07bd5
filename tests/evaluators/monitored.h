#pragma once

#include <set>

#include "evaluators/monitor_file.h"

/// Monitored trainings made by hand.
namespace neutra::evaluators {

inline constexpr std::size_t kMonitoredLayers = 6;

/// Without any symptom: three epochs of six Dense layers.
inline MonitoredRun quiet_run() {
  MonitoredRun run;
  run.loss = "binary_crossentropy";
  run.metric = 0.9;
  for (int i = 0; i < static_cast<int>(kMonitoredLayers); ++i) {
    run.layers.push_back({i, "Dense", {110, 100, 10}});
  }
  for (const double loss : {1.0, 0.5, 0.4}) {
    MonitoredEpoch epoch;
    epoch.logs = {{"loss", loss}, {"val_loss", loss + 0.1}, {"accuracy", 1 - loss / 2}};
    for (std::size_t i = 0; i < kMonitoredLayers; ++i) {
      std::array<Aggregates, kProperties> layer;
      for (Aggregates& of : layer) {
        of[Aggregate::kMax] = 0.5;
        of[Aggregate::kMin] = -0.5;
        of[Aggregate::kMedian] = 0.05;
        of[Aggregate::kMean] = 0.01;
        of[Aggregate::kVar] = 0.09;
        of[Aggregate::kStd] = 0.3;
        of[Aggregate::kSkew] = 0.1;
        of[Aggregate::kKurt] = 3;
        of[Aggregate::kSpar] = 0;
        of[Aggregate::kMeanAbs] = 0.2;
        of[Aggregate::kMinAbs] = 0.01;
        of[Aggregate::kNonfinite] = 0;
      }
      epoch.layers.push_back(layer);
      epoch.dead.push_back(0.1);
    }
    run.epochs.push_back(std::move(epoch));
  }
  return run;
}

/// Sets a value in all epochs of some layers.
inline void set(MonitoredRun& run, Property property, Aggregate aggregate, double value,
                const std::set<std::size_t>& layers) {
  for (MonitoredEpoch& epoch : run.epochs) {
    for (const std::size_t layer : layers) {
      epoch.layers[layer][static_cast<std::size_t>(property)][aggregate] = value;
    }
  }
}

inline void set_log(MonitoredRun& run, const std::string& name, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) run.epochs[i].logs[name] = values[i];
}

}  // namespace neutra::evaluators
