#include "search/remote_worker.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "search/work.h"

namespace neutra::search {
namespace {

using Clock = std::chrono::steady_clock;
/// How long a training may go on after a signal.
constexpr auto kStepPatience = std::chrono::seconds(2);

/// What one setup begins. Everything but the channel is guarded by a lock.
class RemoteWorker {
 public:
  RemoteWorker(RemoteSearch& search, TrainingSite site, const std::atomic<bool>* stop,
               const std::function<void()>& leave)
      : search_(search), site_(std::move(site)), stop_(stop), leave_(leave) {}

  /// Trains until there is an order that is none for it: that one.
  RemoteOrder run() {
#pragma omp parallel num_threads(site_.threads + 1)
    if (omp_get_thread_num() == 0) {
      communicate();
    } else {
      work();
    }
    if (lost_) std::rethrow_exception(lost_);
    return std::move(*last_);
  }

 private:
  void communicate() {
    std::unique_lock lock(mutex_);
    try {
      send(
          {.kind = RemoteReport::Kind::kReady, .threads = site_.threads, .message = site_.warning});
      Pause pause;
      while (!over_) {
        const bool received = take_orders();
        const bool sent = send_reports();
        if (received || sent) {
          changed_.notify_all();
          pause.reset();
        }
        if (!over_) changed_.wait_for(lock, pause.next());
      }
    } catch (...) {
      lost_ = std::current_exception();
    }
    over_ = halt_ = true;
    changed_.notify_all();
    const bool at_an_end = last_ && last_->kind == RemoteOrder::Kind::kEnd;
    if (!leave_ || !at_an_end) return;
    const auto deadline = Clock::now() + kStepPatience;
    while (running_ > 0 && Clock::now() < deadline) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
    if (running_ > 0) leave_();
  }

  bool take_orders() {
    bool any = false;
    while (!over_) {
      std::optional<RemoteOrder> order = search_.receive();
      if (!order) break;
      any = true;
      switch (order->kind) {
        case RemoteOrder::Kind::kTrain:
          for (RemoteTask& task : order->tasks) {
            (stopped_ ? given_back_ : waiting_).push_back(std::move(task));
          }
          // It was on its way when a signal came.
          if (stopped_) give_back(RemoteReport::Kind::kStopped);
          break;
        case RemoteOrder::Kind::kRecall:
          give_back_last(order->count);
          break;
        case RemoteOrder::Kind::kStop:
          ending_ = halt_ = true;
          break;
        case RemoteOrder::Kind::kBegin:
        case RemoteOrder::Kind::kEnd:
          over_ = true;
          last_ = std::move(order);
          break;
      }
    }
    return any;
  }

  bool send_reports() {
    const bool signalled = !stopped_ && stop_ != nullptr && stop_->load();
    if (signalled) ending_ = halt_ = true;
    bool any = !finished_.empty();
    for (RemoteReport& report : std::exchange(finished_, {})) send(std::move(report));
    if (!ending_) return any;
    if (signalled && !signalled_at_) signalled_at_ = Clock::now();
    if (running_ > 0 && (!signalled_at_ || Clock::now() - *signalled_at_ < kStepPatience)) {
      return any;
    }
    for (RemoteTask& task : waiting_) given_back_.push_back(std::move(task));
    for (auto& [id, task] : std::exchange(training_, {})) given_back_.push_back(std::move(task));
    waiting_.clear();
    give_back(failed_ ? RemoteReport::Kind::kFailed : RemoteReport::Kind::kStopped);
    stopped_ = stopped_ || signalled || (stop_ != nullptr && stop_->load());
    // Another search may follow.
    ending_ = false;
    halt_ = stopped_;
    failed_.reset();
    return true;
  }

  void give_back(RemoteReport::Kind kind) {
    RemoteReport report{.kind = kind};
    if (failed_) report = *failed_;
    for (const RemoteTask& task : std::exchange(given_back_, {})) report.ids.push_back(task.id);
    send(std::move(report));
  }

  void give_back_last(std::size_t count) {
    RemoteReport report{.kind = RemoteReport::Kind::kReturned};
    for (; count > 0 && !waiting_.empty(); --count) {
      report.ids.push_back(waiting_.back().id);
      waiting_.pop_back();
    }
    send(std::move(report));
  }

  void send(RemoteReport report) { search_.send(std::move(report)); }

  /// The life of a thread that trains.
  void work() {
    std::unique_lock lock(mutex_);
    while (!over_) {
      if (waiting_.empty() || ending_) {
        changed_.wait(lock);
        continue;
      }
      RemoteTask task = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      training_.emplace(task.id, task);
      lock.unlock();
      RemoteReport report = train(task);
      lock.lock();
      --running_;
      if (training_.erase(task.id) == 0) {
        changed_.notify_all();  // it was given back
        continue;
      }
      if (report.kind == RemoteReport::Kind::kFinished) {
        finished_.push_back(std::move(report));
      } else {
        given_back_.push_back(std::move(task));
        if (report.kind == RemoteReport::Kind::kFailed && !failed_) failed_ = std::move(report);
        ending_ = halt_ = true;
      }
      changed_.notify_all();
    }
  }

  RemoteReport train(const RemoteTask& task) {
    training::TrainingJob job = task.job;
    job.program = task.program.get();
    job.stop = &halt_;
    RemoteReport report{.ids = {task.id}};
    try {
      if (!task.isolated) {
        report.result = site_.trainer->train(job);
      } else if (auto answer = site_.isolated(job)) {
        report.result = std::move(*answer);
      } else if (halt_ || (stop_ != nullptr && stop_->load())) {
        // The signal that stops the search may have reached that process too.
        report.kind = RemoteReport::Kind::kStopped;
      } else {
        report.result = failed_result();
      }
      return report;
    } catch (const Error& error) {
      report.kind = error.exit() == Exit::kInterrupted ? RemoteReport::Kind::kStopped
                                                       : RemoteReport::Kind::kFailed;
      report.exit = error.exit();
      report.message = error.what();
    } catch (const std::bad_alloc&) {
      report.kind = RemoteReport::Kind::kFailed;
      report.message = "out of memory";
    } catch (const std::exception& error) {
      report.kind = RemoteReport::Kind::kFailed;
      report.message = error.what();
    }
    report.ids.clear();  // given back with the others
    return report;
  }

  RemoteSearch& search_;
  const TrainingSite site_;
  const std::atomic<bool>* const stop_;
  const std::function<void()>& leave_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RemoteTask> waiting_;  ///< not begun
  int running_ = 0;
  std::map<std::uint64_t, RemoteTask> training_;  ///< what runs, but for what was given back
  std::optional<Clock::time_point> signalled_at_;
  std::vector<RemoteReport> finished_;  ///< to be sent
  std::deque<RemoteTask> given_back_;   ///< likewise, with the next such report
  std::optional<RemoteReport> failed_;  ///< likewise
  bool ending_ = false;                 ///< nothing is begun any more
  bool stopped_ = false;                ///< by a signal: for good
  std::atomic<bool> halt_ = false;      ///< ends the trainings
  bool over_ = false;
  std::optional<RemoteOrder> last_;
  std::exception_ptr lost_;
};

RemoteReport failure_report(Exit exit, const std::string& message) {
  return {.kind = RemoteReport::Kind::kFailed, .exit = exit, .message = message};
}

}  // namespace

void train_for(RemoteSearch& search, const std::function<TrainingSite(const Json&)>& prepare,
               const std::atomic<bool>* stop, const std::function<void()>& leave) {
  Pause pause;
  for (;;) {
    std::optional<RemoteOrder> order = search.receive();
    if (!order) {
      std::this_thread::sleep_for(pause.next());
      continue;
    }
    pause.reset();
    while (order->kind == RemoteOrder::Kind::kBegin) {
      std::optional<TrainingSite> site;
      try {
        site = prepare(order->setup);
      } catch (const Error& error) {
        search.send(failure_report(error.exit(), error.what()));
        break;
      } catch (const std::exception& error) {
        search.send(failure_report(Exit::kFailed, error.what()));
        break;
      }
      order = RemoteWorker(search, std::move(*site), stop, leave).run();
    }
    if (order->kind == RemoteOrder::Kind::kEnd) return;
    // A stop for one that holds nothing needs no answer.
  }
}

}  // namespace neutra::search
