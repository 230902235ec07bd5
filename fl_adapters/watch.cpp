#include "fl_adapters/watch.h"

#include <cassert>

namespace neutra::fl_adapters {

Trouble trouble_of(const training::ReplicaResult& training) {
  switch (training.status) {
    case training::RunStatus::kOk:
    case training::RunStatus::kDiverged:
      return {};
    case training::RunStatus::kInvalid:
      return {LocalisationStatus::kNotApplicable, training.message};
    case training::RunStatus::kTimeout:
      return {LocalisationStatus::kTimeout, training.message};
    case training::RunStatus::kOutOfMemory:
    case training::RunStatus::kFailed:
      break;
  }
  return {LocalisationStatus::kFailed, training.message};
}

training::TrainingJob training_job(const program::Program& program,
                                   const LocaliseContext& context) {
  training::TrainingJob job;
  job.program = &program;
  job.seed = context.seed;
  job.replica = context.run;
  job.time_limit = context.time_limit;
  job.memory_limit = context.memory_limit;
  job.stop = context.stop;
  return job;
}

double Watch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::optional<training::TrainingJob> Watch::job(const program::Program& program) const {
  training::TrainingJob job = training_job(program, context_);
  job.keras = keras_;
  if (context_.time_limit > 0) {
    job.time_limit = context_.time_limit - seconds();
    if (job.time_limit <= 0) return std::nullopt;
  }
  return job;
}

LocalisationStatus Watch::train(const program::Program& program, training::Observer& observer) {
  assert(context_.trainer != nullptr);
  const std::optional<training::TrainingJob> job = this->job(program);
  if (!job) {
    reason_ = "ran past its time limit";
    return LocalisationStatus::kTimeout;
  }
  const training::ReplicaResult training = context_.trainer->train(*job, &observer);
  reason_ = training.message;
  return trouble_of(training).status;
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

}  // namespace neutra::fl_adapters
