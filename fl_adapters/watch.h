#pragma once

#include <chrono>

#include "fl_adapters/tool.h"

namespace neutra {

/// The trainings of one call of a tool that watches trainings.
class Watch {
 public:
  explicit Watch(const LocaliseContext& context) : context_(context) {}

  /// Trains as the context says, within what is left of its time. Ok for a training that diverged.
  LocalisationStatus train(const Program& program, Observer& observer);
  /// Why the last training wasn't ok.
  const std::string& reason() const { return reason_; }
  /// Completes the result: status, reason, seconds, and the answer that its messages make.
  Localisation finish(Localisation result, LocalisationStatus status,
                      const std::string& reason = "") const;

 private:
  double seconds() const;
  const LocaliseContext& context_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string reason_;
};

}  // namespace neutra
