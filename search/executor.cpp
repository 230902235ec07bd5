#include "search/executor.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>

#include "program/error.h"

namespace neutra {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProgressInterval = std::chrono::milliseconds(100);
constexpr auto kPollInterval = std::chrono::milliseconds(50);  ///< how soon an idle worker stops
constexpr int kSuspectDeaths = 2;
constexpr int kFatalDeaths = 3;

ReplicaResult failed_result() {
  ReplicaResult result;
  result.status = RunStatus::kFailed;
  result.metric = std::numeric_limits<double>::quiet_NaN();
  result.message = "three processes died while training it";
  return result;
}

class Executor {
 public:
  Executor(SearchMachine& machine, Store& store, const SearchConfig& config,
           const RunOptions& options, Trainer& trainer)
      : machine_(machine), store_(store), config_(config), options_(options), trainer_(trainer) {}

  /// The life of one worker. Never throws.
  void work() {
    std::unique_lock lock(mutex_);
    try {
      while (!failed_ && !machine_.finished() && !(options_.stop && options_.stop->load())) {
        if (auto task = machine_.next()) {
          step(*task, lock);
          report();
          if (store_.save_due()) {
            store_.save(machine_.network(), run_counters(machine_, store_), std::nullopt);
          }
          changed_.notify_all();
        } else if (!machine_.finished()) {
          changed_.wait_for(lock, kPollInterval);
        }
      }
    } catch (...) {
      if (!failed_) failed_ = std::current_exception();
    }
    changed_.notify_all();
  }

  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  void step(const Task& task, std::unique_lock<std::mutex>& lock) {
    const EvaluationKey key{task.hash, task.replica};
    const bool apart = task.deaths >= kSuspectDeaths && options_.isolated;
    ReplicaResult result;
    if (task.deaths >= kFatalDeaths && !apart) {
      result = failed_result();
    } else {
      store_.started(key, apart);
      TrainingJob job;
      job.program = task.program.get();
      job.seed = config_.seed;
      job.replica = task.replica;
      job.time_limit = config_.time_limit;
      job.memory_limit = config_.memory_limit;
      job.stop = options_.stop;
      lock.unlock();
      try {
        if (apart) {
          const auto answer = options_.isolated(job);
          // The signal that stops the search may have reached that process too.
          if (!answer && options_.stop && options_.stop->load()) {
            return give_up(task, key, lock);
          }
          result = answer.value_or(failed_result());
        } else {
          result = trainer_.train(job);
        }
        lock.lock();
      } catch (const Error& error) {
        give_up(task, key, lock);
        if (error.exit() == Exit::kInterrupted) return;
        throw;
      } catch (...) {
        give_up(task, key, lock);
        throw;
      }
    }
    store_.finished(key, result);
    machine_.deliver(task, std::move(result));
  }

  void give_up(const Task& task, const EvaluationKey& key, std::unique_lock<std::mutex>& lock) {
    lock.lock();
    machine_.drop(task);
    store_.dropped(key);
  }

  void report() {
    if (!options_.progress || Clock::now() - reported_ < kProgressInterval) return;
    reported_ = Clock::now();
    options_.progress({run_counters(machine_, store_), machine_.queue_length(),
                       machine_.alternatives(), machine_.fraction()});
  }

  SearchMachine& machine_;
  Store& store_;
  const SearchConfig& config_;
  const RunOptions& options_;
  Trainer& trainer_;
  std::mutex mutex_;  ///< guards everything above but the trainer
  std::condition_variable changed_;
  std::exception_ptr failed_;
  Clock::time_point reported_{};
};

}  // namespace

void execute(SearchMachine& machine, Store& store, const SearchConfig& config,
             const RunOptions& options, Trainer& trainer) {
  Executor executor(machine, store, config, options, trainer);
#pragma omp parallel num_threads(std::max(options.workers, 1))
  executor.work();
  executor.rethrow();
}

SearchCounters run_counters(const SearchMachine& machine, const Store& store) {
  SearchCounters counters = machine.counters();
  counters.total_seconds = store.elapsed();
  counters.seconds = store.seconds();
  return counters;
}

}  // namespace neutra
