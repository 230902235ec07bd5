#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "search/machine.h"

namespace neutra::search {

/// An imagined MPI job. Rank 0 searches and trains, the others train for it.
struct SimulatedCluster {
  int workers = 1;       ///< threads that train, of all ranks together
  int rank_threads = 1;  ///< of each rank; the last one has what is left of `workers`
  /// From the sending of a message until it is read, with what both ends sleep between two looks.
  double latency_seconds = 0.002;
  /// That rank 0 needs to send a task or to take a result in, with the writing of its journal.
  double task_seconds = 0.0001;
  double straggler_share = 0;    ///< of the ranks ...
  double straggler_factor = 1;   ///< ... whose trainings take so many times as long
  double failures_per_hour = 0;  ///< of each rank. The job ends with it and is started again, ...
  double restart_seconds = 60;   ///< ... which takes so long
  std::uint64_t seed = 0;        ///< of who is slow, and what fails when
  bool curtail = true, reuse_identical = true, speculate = true;  ///< as in RunOptions
};

/// The trainings that the serial search needs for the neighbours of one parent; the first block is
/// the known fix and the buggy program.
struct WorkBlock {
  std::size_t opener = 0;  ///< the block of the parent
  double seconds = 0;      ///< all of them one after the other
  double longest = 0;      ///< seconds of one
};
/// `fixed`: the known fix, if it was trained. `seconds`: of a training.
std::vector<WorkBlock> needed_work(const Network& network, const std::optional<Hash>& fixed,
                                   const std::function<double(const EvaluationKey&)>& seconds);

/// Seconds that no schedule of the needed trainings can beat. No training of a block begins before
/// its parent is known to be queued, hence before the parent's own block and all earlier ones have
/// ended; without speculation, before the block before it has. A block takes as long as its longest
/// training, and blocks together as long as their work on all workers.
///
/// `speed`: trainings at the same time, of threads as fast as those that the times are of;
/// `fastest`: the speed of the fastest thread.
double lower_bound(const std::vector<WorkBlock>& blocks, double speed, double fastest,
                   bool speculate);

/// What simulate() gives. Seconds are simulated ones.
struct SimulatedRun {
  Network network;
  SearchEnd end = SearchEnd::kInterrupted;
  double seconds = 0;              ///< until the search is finished
  double lower_bound = 0;          ///< lower_bound() of the serial search's trainings
  double training_seconds = 0;     ///< of all threads
  std::int64_t trainings = 0;      ///< that ended
  std::int64_t needed = 0;         ///< trainings of the serial search ...
  double needed_seconds = 0;       ///< ... one after the other
  std::int64_t begun_in_vain = 0;  ///< in training at the end, or when a rank failed
  std::int64_t estimated = 0;   ///< of `trainings`: not in the store (RecordedSearch::kEstimated)
  std::int64_t orders = 0;      ///< messages with tasks from rank 0
  std::int64_t tasks_sent = 0;  ///< in them
  std::int64_t largest_order = 0;  ///< tasks
  std::int64_t messages = 0;       ///< of rank 0, sent and received
  double dealing_seconds = 0;      ///< of rank 0
  std::int64_t failures = 0;       ///< of ranks, each of which ended the job

  /// Share of the time that no schedule can beat. At most 1: both are sums of the same times, in
  /// different orders, and may differ in the last bits where the bound is reached.
  double efficiency() const;
};

/// Runs a search through its own scheduler (SearchMachine, Dispatcher) on threads whose trainings
/// take the time that `trainer` says they did, but none in fact. The same arguments give the same
/// run. Throws as the search does; failure() where ranks fail faster than anything trains.
SimulatedRun simulate(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                      training::Trainer& trainer, const SimulatedCluster& cluster);

}  // namespace neutra::search
