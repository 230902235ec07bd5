#pragma once

#include <optional>

#include "training/local_trainer.h"
#include "training/trainer.h"

namespace neutra::cli {

/// Trains one job in a process of its own (for a program that other processes died in); nullopt
/// when it dies. Throws Error(kInterrupted) when the job's stop is set.
std::optional<training::ReplicaResult> train_isolated(const training::TrainingJob& job,
                                                      const training::TrainerOptions& options);

/// Options of a trainer for another process, as JSON, and back.
Json to_json(const training::TrainerOptions& options);
/// Precondition: `json` is what to_json() gave.
training::TrainerOptions trainer_options_from_json(const Json& json);

}  // namespace neutra::cli
