#include "training/callbacks.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "training/variables.h"

namespace neutra::training {

EarlyStopping::EarlyStopping(const Json& config)
    : monitor_(config.value("monitor", "val_loss")),
      min_delta_(std::abs(number_or(config, "min_delta", 0))),
      patience_(static_cast<std::int64_t>(number_or(config, "patience", 0))),
      restore_(flag_or(config, "restore_best_weights", false)) {
  const std::string mode = config.value("mode", "auto");
  maximize_ = mode == "max" || (mode != "min" && monitor_.find("acc") != std::string::npos);
  if (!maximize_) min_delta_ = -min_delta_;
  const double infinity = std::numeric_limits<double>::infinity();
  best_ = number_or(config, "baseline", maximize_ ? -infinity : infinity);
}

bool EarlyStopping::epoch_end(const Logs& logs, std::span<const float> weights) {
  const auto it = logs.find(monitor_);
  if (it == logs.end()) return false;
  const double current = it->second;
  const bool better = maximize_ ? current - min_delta_ > best_ : current - min_delta_ < best_;
  if (better) {
    best_ = current;
    wait_ = 0;
    if (restore_) best_weights_.assign(weights.begin(), weights.end());
    return false;
  }
  stopped_ = ++wait_ >= patience_;
  return stopped_;
}

std::span<const float> EarlyStopping::restored() const {
  return stopped_ ? std::span<const float>(best_weights_) : std::span<const float>();
}

Callbacks::Callbacks(const Json& callbacks) {
  for (const Json& callback : callbacks) {
    const std::string name = callback.at("class_name");
    if (name == "EarlyStopping") {
      early_stopping.emplace_back(callback.value("config", Json::object()));
    } else if (name == "TerminateOnNaN") {
      terminate_on_nan = true;
    } else {
      throw input_error("callback " + name + " is not available yet");
    }
  }
}

bool Callbacks::monitors(const std::string& name) const {
  return std::any_of(early_stopping.begin(), early_stopping.end(), [&](const EarlyStopping& e) {
    return e.monitor() == name || e.monitor() == "val_" + name;
  });
}

bool Callbacks::monitors_validation() const {
  return std::any_of(early_stopping.begin(), early_stopping.end(),
                     [](const EarlyStopping& e) { return e.monitor().starts_with("val_"); });
}

}  // namespace neutra::training
