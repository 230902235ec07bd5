#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "fl_adapters/tool.h"

namespace neutra::fl_adapters {

/// Why a tool gave no whole answer.
struct Trouble {
  LocalisationStatus status = LocalisationStatus::kOk;
  std::string reason;
};
/// What a training's end means for the tool that needed it. Diverged is no trouble.
Trouble trouble_of(const training::ReplicaResult& training);

/// The training of a program that the context asks for.
training::TrainingJob training_job(const program::Program& program, const LocaliseContext& context);

/// The trainings of one call of a tool that watches trainings.
class Watch {
 public:
  /// `keras`: the release that the tool ran on.
  explicit Watch(const LocaliseContext& context,
                 training::KerasRelease keras = training::KerasRelease::kTf24)
      : context_(context), keras_(keras) {}

  /// The context's training within what is left of its time; nullopt: nothing is.
  std::optional<training::TrainingJob> job(const program::Program& program) const;
  /// Trains as the context says, within what is left of its time. Ok for a training that diverged.
  LocalisationStatus train(const program::Program& program, training::Observer& observer);
  /// Why the last training wasn't ok.
  const std::string& reason() const { return reason_; }
  /// Completes the result: status, reason, seconds, and the answer that its messages make.
  Localisation finish(Localisation result, LocalisationStatus status,
                      const std::string& reason = "") const;

 private:
  double seconds() const;
  const LocaliseContext& context_;
  training::KerasRelease keras_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string reason_;
};

}  // namespace neutra::fl_adapters
