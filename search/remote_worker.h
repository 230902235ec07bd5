#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "search/remote.h"

namespace neutra::search {

/// What a process trains with.
struct TrainingSite {
  std::unique_ptr<training::Trainer> trainer;
  int threads = 1;      ///< trainings at a time
  std::string warning;  ///< what the user should know of this process; empty: nothing
  /// As in RunOptions; null: nothing is trained in a process of its own.
  std::function<std::optional<training::ReplicaResult>(const training::TrainingJob&)> isolated;
};

/// The life of a process that trains for a search elsewhere, until it is told that nothing more
/// will come: begins with what `prepare` makes of a setup, trains what is sent and sends each
/// result at once. `stop` is set by a signal: the trainings end at their next step and all tasks
/// are given back. Errors of `prepare` and of trainings go to the search; those of the channel come
/// from here. A training that goes on two seconds after it should have ended is given back all the
/// same; where it still goes on when nothing more will come, `leave` ends the process.
///
/// The channel is used by the calling thread only.
void train_for(RemoteSearch& search, const std::function<TrainingSite(const Json& setup)>& prepare,
               const std::atomic<bool>* stop, const std::function<void()>& leave = {});

}  // namespace neutra::search
