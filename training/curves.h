#pragma once

#include "evaluators/training_log.h"
#include "training/observer.h"

namespace neutra::training {

/// Records the logs of each epoch. A program without a validation split is validated on its test
/// rows.
class CurveRecorder : public Observer {
 public:
  bool wants_validation() const override { return true; }
  void begin(const DataView& data, Probe& probe) override;
  void epoch_end(const EpochEvent& event) override;

  /// What was recorded so far.
  const evaluators::TrainingCurves& curves() const { return curves_; }

 private:
  evaluators::TrainingCurves curves_;
};

}  // namespace neutra::training
