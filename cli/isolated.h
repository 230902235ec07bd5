#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "training/local_trainer.h"
#include "training/trainer.h"

namespace neutra::cli {

/// What a process wrote into a pipe until it closed it, and its status (waitpid).
struct ChildAnswer {
  std::string text;
  int status = 0;
};
/// Reads from the pipe, closes it and waits for the process. `waiting` is called again and again
/// while nothing comes.
ChildAnswer answer_of_child(pid_t child, int from_child, const std::function<void()>& waiting = {});

/// Trains one job in a process of its own (for a program that other processes died in); nullopt
/// when it dies. Throws Error(kInterrupted) when the job's stop is set.
std::optional<training::ReplicaResult> train_isolated(const training::TrainingJob& job,
                                                      const training::TrainerOptions& options);

/// Options of a trainer for another process, as JSON, and back.
Json to_json(const training::TrainerOptions& options);
training::TrainerOptions trainer_options_from_json(const Json& json);

}  // namespace neutra::cli
