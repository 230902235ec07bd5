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

ReduceOnPlateau::ReduceOnPlateau(const Json& config)
    : monitor_(config.value("monitor", "val_loss")),
      relative_(flag_or(config, "relative", false)),
      factor_(number_or(config, "factor", 0.1)),
      min_delta_(number_or(config, "min_delta", 1e-4)),
      min_rate_(number_or(config, "min_lr", 0)),
      patience_(static_cast<std::int64_t>(number_or(config, "patience", 10))),
      cooldown_(static_cast<std::int64_t>(number_or(config, "cooldown", 0))) {
  const std::string mode = config.value("mode", "auto");
  maximize_ = mode == "max" || (mode != "min" && monitor_.find("acc") != std::string::npos);
  const double infinity = std::numeric_limits<double>::infinity();
  best_ = maximize_ ? -infinity : infinity;
}

bool ReduceOnPlateau::is_better(double value) const {
  if (relative_ && std::isfinite(best_)) {
    return maximize_ ? value > best_ * (1 + min_delta_) : value < best_ * (1 - min_delta_);
  }
  return maximize_ ? value > best_ + min_delta_ : value < best_ - min_delta_;
}

double ReduceOnPlateau::epoch_end(const Logs& logs, double rate) {
  const auto it = logs.find(monitor_);
  if (it == logs.end()) return rate;
  if (cooling_ > 0) {
    --cooling_;
    wait_ = 0;
  }
  if (is_better(it->second)) {
    best_ = it->second;
    wait_ = 0;
  } else if (cooling_ == 0 && ++wait_ >= patience_ && rate > min_rate_) {
    rate = std::max(rate * factor_, min_rate_);
    cooling_ = cooldown_;
    wait_ = 0;
  }
  return rate;
}

Callbacks::Callbacks(const Json& callbacks) {
  for (const Json& callback : callbacks) {
    const std::string name = callback.at("class_name");
    if (name == "EarlyStopping") {
      early_stopping.emplace_back(callback.value("config", Json::object()));
    } else if (name == "ReduceLROnPlateau") {
      plateaus.emplace_back(callback.value("config", Json::object()));
    } else if (name == "TerminateOnNaN") {
      terminate_on_nan = true;
    } else {
      throw input_error("callback " + name + " is not available yet");
    }
  }
}

bool Callbacks::monitors(const std::string& name) const {
  const auto looks = [&](const auto& each) {
    return each.monitor() == name || each.monitor() == "val_" + name;
  };
  return std::any_of(early_stopping.begin(), early_stopping.end(), looks) ||
         std::any_of(plateaus.begin(), plateaus.end(), looks);
}

bool Callbacks::monitors_validation() const {
  const auto looks = [](const auto& each) { return each.monitor().starts_with("val_"); };
  return std::any_of(early_stopping.begin(), early_stopping.end(), looks) ||
         std::any_of(plateaus.begin(), plateaus.end(), looks);
}

}  // namespace neutra::training
