#pragma once

#include <atomic>
#include <functional>

namespace neutra::cli {

/// Set by SIGINT, SIGTERM and SIGUSR2, Slurm's warning, once catch_signals() was called.
const std::atomic<bool>& stop_requested();

/// From now on these signals request a stop, and the process says so at once. A step of a training,
/// or the reading of a file, that goes on two seconds later is given up: what is worth keeping is
/// kept (LastAct), and the process ends with Exit::kInterrupted. A second SIGINT or SIGTERM ends
/// the process at once, unless `end_at_second` is false: a rank of an MPI job may get one signal
/// more than once from what started the job, which sees to its end.
void catch_signals(bool end_at_second = true);

/// Until catch_signals(), and in verbs that have nothing to save, each of these signals ends the
/// process with Exit::kInterrupted.
void end_on_signals();

/// Throws Error(kInterrupted) once a stop was requested.
void require_not_stopped();

/// For verbs that end by being asked to: a stop is not announced.
void say_nothing_of_stops();

/// How a rank of an MPI job ends.
struct RankEnd {
  bool first = true;  ///< rank 0; it announces the stop, and the others end with it
  std::function<void(int exit_code)> leave;  ///< has the other ranks end; called before the exit
};
/// Says that this process is a rank, not alone.
void end_with_ranks(RankEnd end);

}  // namespace neutra::cli
