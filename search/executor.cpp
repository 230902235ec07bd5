#include "search/executor.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/last_act.h"
#include "search/dispatcher.h"

namespace neutra::search {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProgressInterval = std::chrono::milliseconds(100);
constexpr auto kPollInterval = std::chrono::milliseconds(50);  ///< how soon an idle worker stops
/// How long other processes have at the end to give back what they hold.
constexpr auto kReturnPatience = std::chrono::seconds(10);
/// How long the lock may be held by a thread that saves.
constexpr auto kLockPatience = std::chrono::seconds(10);

class Executor {
 public:
  Executor(Work& work, Store& store, const std::function<void()>& save, const SearchConfig& config,
           const RunOptions& options, training::Trainer& trainer)
      : work_(work),
        store_(store),
        save_(save),
        config_(config),
        options_(options),
        trainer_(trainer) {
    if (!options_.remote) return;
    dispatcher_.emplace(work_, store_, *options_.remote, std::max(options_.workers, 1), job(),
                        static_cast<bool>(options_.isolated));
  }

  /// The life of one worker. Never throws.
  void work() {
    std::unique_lock lock(mutex_);
    try {
      while (!over()) {
        if (auto task = work_.next()) {
          step(*task, lock);
          after_step();
        } else if (!work_.finished()) {
          ++idle_;
          changed_.wait_for(lock, kPollInterval);
          --idle_;
        }
      }
    } catch (...) {
      fail();
    }
    end();
  }

  /// The life of the thread that ends the trainings in flight as soon as the search is over, where
  /// no thread communicates. Never throws.
  void watch() {
    std::unique_lock lock(mutex_);
    try {
      while (!over()) {
        store_.check();
        work_.check_time();
        if (!over()) over_.wait_for(lock, kPollInterval);
      }
    } catch (...) {
      fail();
    }
    end();
  }

  /// The life of the thread that other processes are reached by. Never throws.
  void communicate() {
    std::unique_lock lock(mutex_);
    try {
      dispatcher_->begin(options_.remote_setup);
      Pause pause;
      while (!over()) {
        store_.check();
        work_.check_time();
        const bool received = dispatcher_->take_in();
        interrupted_ = interrupted_ || dispatcher_->interrupted();
        const bool sent = !over() && dispatcher_->deal(idle_);
        if (received) after_step();
        if (received || sent) pause.reset();
        if (!over()) changed_.wait_for(lock, pause.next());
      }
    } catch (...) {
      fail();
    }
    end();
    try {
      dispatcher_->stop();
      const auto patience = Clock::now() + kReturnPatience;
      for (Pause pause; !dispatcher_->all_back() && Clock::now() < patience;) {
        if (!dispatcher_->take_in()) changed_.wait_for(lock, pause.next());
      }
    } catch (...) {
      fail();
    }
  }

  /// Keeps what there is although threads still train. Nothing else happens afterwards: the lock
  /// stays with this call. Where another one doesn't let go of it, the journal has what there is.
  void end_now(const std::function<void()>& save) {
    const auto patience = Clock::now() + kLockPatience;
    while (!mutex_.try_lock()) {
      if (Clock::now() > patience) return;
      std::this_thread::sleep_for(kPollInterval);
    }
    for (const auto& [key, task] : training_) {
      work_.drop(task);
      store_.dropped(key);
    }
    save();
  }

  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  bool over() const {
    return failed_ || interrupted_ || work_.finished() || (options_.stop && options_.stop->load());
  }

  void fail() {
    if (!failed_) failed_ = std::current_exception();
  }

  void end() {
    halt_ = true;
    changed_.notify_all();
    over_.notify_all();
  }

  training::TrainingJob job() const {
    training::TrainingJob job;
    job.seed = config_.seed;
    job.time_limit = config_.time_limit;
    job.memory_limit = config_.memory_limit;
    return job;
  }

  void step(const Task& task, std::unique_lock<std::mutex>& lock) {
    const EvaluationKey key{task.hash, task.replica};
    const bool isolated = task.deaths >= kSuspectDeaths && options_.isolated;
    training::ReplicaResult result;
    if (task.deaths >= kFatalDeaths && !isolated) {
      result = failed_result();
    } else {
      store_.started(key, isolated);
      training::TrainingJob job = this->job();
      job.program = task.program.get();
      job.replica = task.replica;
      job.stop = &halt_;
      training_.emplace(key, task);
      lock.unlock();
      try {
        if (isolated) {
          const auto answer = options_.isolated(job);
          // The signal that stops the search may have reached that process too.
          if (!answer && (halt_ || (options_.stop && options_.stop->load()))) {
            return give_up(task, key, lock);
          }
          result = answer.value_or(failed_result());
        } else {
          result = trainer_.train(job);
        }
        lock.lock();
        training_.erase(key);
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
    if (dispatcher_) dispatcher_->learn(task.hash, result.seconds);
    work_.deliver(task, std::move(result));
  }

  void give_up(const Task& task, const EvaluationKey& key, std::unique_lock<std::mutex>& lock) {
    lock.lock();
    training_.erase(key);
    work_.drop(task);
    store_.dropped(key);
  }

  void after_step() {
    report();
    if (store_.save_due()) save_();
    changed_.notify_all();
  }

  void report() {
    if (!options_.progress || Clock::now() - reported_ < kProgressInterval) return;
    reported_ = Clock::now();
    Progress progress = work_.progress();
    progress.counters = store_.timed(progress.counters);
    options_.progress(progress);
  }

  Work& work_;
  Store& store_;
  const std::function<void()>& save_;
  const SearchConfig& config_;
  const RunOptions& options_;
  training::Trainer& trainer_;
  std::mutex mutex_;  ///< guards everything above but the trainer, and the dispatcher
  std::condition_variable changed_;         ///< there may be something to do
  std::condition_variable over_;            ///< there is nothing to do any more
  std::optional<Dispatcher> dispatcher_;    ///< to other processes, if there are any
  int idle_ = 0;                            ///< workers of this process with nothing to do
  bool interrupted_ = false;                ///< by a signal to another process
  std::map<EvaluationKey, Task> training_;  ///< in this process
  std::atomic<bool> halt_ = false;          ///< ends the trainings in flight: the search is over
  std::exception_ptr failed_;
  Clock::time_point reported_{};
};

}  // namespace

void execute(Work& work, Store& store, const std::function<void()>& save,
             const std::function<void()>& give_up, const SearchConfig& config,
             const RunOptions& options, training::Trainer& trainer) {
  Executor executor(work, store, save, config, options, trainer);
  const LastAct last([&] { executor.end_now(give_up); });
  const bool remote = options.remote != nullptr;
  std::thread watcher;
  if (!remote) watcher = std::thread([&executor] { executor.watch(); });
#pragma omp parallel num_threads(std::max(options.workers, 1) + (remote ? 1 : 0))
  if (remote && omp_get_thread_num() == 0) {
    executor.communicate();
  } else {
    executor.work();
  }
  if (watcher.joinable()) watcher.join();
  executor.rethrow();
}

}  // namespace neutra::search
