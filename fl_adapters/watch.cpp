#include "fl_adapters/watch.h"

#include <cassert>

namespace neutra {

double Watch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

LocalisationStatus Watch::train(const Program& program, Observer& observer) {
  assert(context_.trainer != nullptr);
  TrainingJob job;
  job.program = &program;
  job.seed = context_.seed;
  job.replica = context_.run;
  job.memory_limit = context_.memory_limit;
  job.stop = context_.stop;
  if (context_.time_limit > 0) {
    job.time_limit = context_.time_limit - seconds();
    if (job.time_limit <= 0) {
      reason_ = "ran past its time limit";
      return LocalisationStatus::kTimeout;
    }
  }
  const ReplicaResult training = context_.trainer->train(job, &observer);
  reason_ = training.message;
  switch (training.status) {
    case RunStatus::kOk:
    case RunStatus::kDiverged:
      return LocalisationStatus::kOk;
    case RunStatus::kInvalid:
      return LocalisationStatus::kNotApplicable;
    case RunStatus::kTimeout:
      return LocalisationStatus::kTimeout;
    default:
      return LocalisationStatus::kFailed;
  }
}

Localisation Watch::finish(Localisation result, LocalisationStatus status,
                           const std::string& reason) const {
  result.status = status;
  if (status != LocalisationStatus::kOk) result.reason = reason;
  if (status == LocalisationStatus::kOk || status == LocalisationStatus::kTimeout) {
    result.faults = answer_of(result.messages);
  } else {
    result.faults.applicable = false;
  }
  result.seconds = seconds();
  return result;
}

}  // namespace neutra
