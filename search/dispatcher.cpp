#include "search/dispatcher.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <iostream>

namespace neutra::search {

void Durations::learn(const Hash& program, double seconds) {
  auto& [sum, count] = own_[program];
  sum += seconds;
  ++count;
  recent_.push_back(seconds);
  if (recent_.size() > kRecent) recent_.pop_front();
}

std::optional<double> Durations::predict(const Hash& program) const {
  if (const auto own = own_.find(program); own != own_.end()) {
    return own->second.first / own->second.second;
  }
  if (recent_.empty()) return std::nullopt;
  std::vector<double> sorted(recent_.begin(), recent_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

namespace {

/// Of a task. Never twice in a process: a late answer to one search is none to the next.
std::uint64_t next_id() {
  static std::atomic<std::uint64_t> next = 0;
  return next++;
}

}  // namespace

std::size_t Dispatcher::Process::waiting() const {
  const auto busy = static_cast<std::size_t>(threads);
  return held.size() > busy ? held.size() - busy : 0;
}

double Dispatcher::Process::waiting_seconds() const {
  return held.empty() ? 0
                      : seconds * static_cast<double>(waiting()) / static_cast<double>(held.size());
}

Dispatcher::Dispatcher(Work& work, EvaluationLog& log, RemoteWorkers& remote, int local_threads,
                       training::TrainingJob job, bool isolated)
    : work_(work),
      log_(log),
      remote_(remote),
      local_threads_(local_threads),
      job_(job),
      isolated_(isolated),
      processes_(remote.size()) {}

void Dispatcher::begin(const Json& setup) {
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    remote_.send(process, {.kind = RemoteOrder::Kind::kBegin, .setup = setup});
  }
}

int Dispatcher::threads() const {
  int sum = local_threads_;
  for (const Process& process : processes_) sum += process.threads;
  return sum;
}

// --- reports ---

bool Dispatcher::take_in() {
  bool any = false;
  while (auto report = remote_.receive()) {
    take(std::move(*report));
    any = true;
  }
  if (failed_) throw *std::exchange(failed_, std::nullopt);
  return any;
}

void Dispatcher::take(RemoteReport report) {
  Process& process = processes_.at(report.process);
  switch (report.kind) {
    case RemoteReport::Kind::kReady:
      process.threads = report.threads;
      if (!report.message.empty() && !std::exchange(warned_, true)) {
        std::cerr << "warning: " << remote_.name(report.process) << ": " << report.message << "\n";
      }
      break;
    case RemoteReport::Kind::kFinished: {
      std::optional<Sent> sent = take_back(process, report.ids.at(0));
      if (!sent) break;
      log_.finished({sent->task.hash, sent->task.replica}, report.result);
      durations_.learn(sent->task.hash, report.result.seconds);
      mark_begun(process);
      work_.deliver(sent->task, std::move(report.result));
      break;
    }
    case RemoteReport::Kind::kReturned:
      process.recalled = false;
      give_back(process, report.ids);
      break;
    case RemoteReport::Kind::kStopped:
      if (!process.stopping) interrupted_ = true;
      process.stopping = false;
      give_back(process, report.ids);
      break;
    case RemoteReport::Kind::kFailed:
      process.stopping = false;
      give_back(process, report.ids);
      fail(report.process, report.exit, report.message);
      break;
    case RemoteReport::Kind::kLost:
      process.lost = true;
      fail(report.process, Exit::kFailed, report.message);
      break;
  }
}

void Dispatcher::fail(std::size_t process, Exit exit, const std::string& message) {
  if (!failed_) failed_.emplace(exit, remote_.name(process) + ": " + message);
}

/// nullopt: it was given up.
std::optional<Dispatcher::Sent> Dispatcher::take_back(Process& process, std::uint64_t id) {
  const auto found = std::find_if(process.held.begin(), process.held.end(),
                                  [id](const Sent& sent) { return sent.id == id; });
  if (found == process.held.end()) return std::nullopt;
  Sent sent = std::move(*found);
  process.held.erase(found);
  process.seconds = process.held.empty() ? 0 : process.seconds - sent.seconds;
  return sent;
}

void Dispatcher::give_back(Process& process, const std::vector<std::uint64_t>& ids) {
  for (const std::uint64_t id : ids) {
    const std::optional<Sent> sent = take_back(process, id);
    if (!sent) continue;
    work_.drop(sent->task);
    if (sent->begun) log_.dropped({sent->task.hash, sent->task.replica});
  }
}

void Dispatcher::mark_begun(Process& process) {
  const std::size_t count =
      std::min(process.held.size(), static_cast<std::size_t>(process.threads));
  for (std::size_t i = 0; i < count; ++i) {
    Sent& sent = process.held[i];
    if (!sent.begun) log_.started({sent.task.hash, sent.task.replica}, sent.isolated);
    sent.begun = true;
  }
}

// --- orders ---

void Dispatcher::give(Process& process, Task task) {
  const bool isolated = task.deaths >= kSuspectDeaths && isolated_;
  if (task.deaths >= kFatalDeaths && !isolated) {
    const training::ReplicaResult result = failed_result();
    log_.finished({task.hash, task.replica}, result);
    work_.deliver(task, result);
    return;
  }
  Sent sent;
  sent.id = next_id();
  sent.seconds = std::max(durations_.predict(task.hash).value_or(0), kShortestTask);
  sent.isolated = isolated;
  RemoteTask order{sent.id, task.hash, task.program, job_, isolated};
  order.job.replica = task.replica;
  process.order.push_back(std::move(order));
  process.seconds += sent.seconds;
  sent.task = std::move(task);
  process.held.push_back(std::move(sent));
}

bool Dispatcher::deal(int idle) {
  if (!fill_idle_threads() || idle > 0) {
    recall(idle);
  } else if (durations_.known()) {
    fill_chunks();
  }
  bool any = false;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process& process = processes_[i];
    if (process.order.empty()) continue;
    mark_begun(process);
    remote_.send(i, {.kind = RemoteOrder::Kind::kTrain, .tasks = std::exchange(process.order, {})});
    any = true;
  }
  return any;
}

/// False: some thread has nothing to do.
bool Dispatcher::fill_idle_threads() {
  for (bool any = true; any;) {
    any = false;
    for (Process& process : processes_) {
      if (process.held.size() >= static_cast<std::size_t>(process.threads)) continue;
      std::optional<Task> task = work_.next();
      if (!task) return false;
      give(process, std::move(*task));
      any = true;
    }
  }
  return true;
}

void Dispatcher::fill_chunks() {
  const double all = threads();
  const double seconds = std::clamp(all / kChunksPerSecond, kShortestChunk, kLongestChunk);
  std::optional<double> share;  // of each thread, of the candidates that nobody trains
  // One by one, so that the lowest candidates are begun first.
  for (bool any = true; any;) {
    any = false;
    for (Process& process : processes_) {
      const double held = process.seconds / std::max(process.threads, 1);
      const bool one_waits = process.waiting() >= static_cast<std::size_t>(process.threads);
      if (process.order.size() >= kTasksPerOrder ||
          (held >= seconds && (one_waits || held >= kLongTask))) {
        continue;
      }
      const bool short_of_tasks = held < kReserve;
      if (!share) {
        auto open = static_cast<std::size_t>(work_.ahead());
        for (const Process& other : processes_) open += other.waiting();
        share = static_cast<double>(open) / all;
      }
      if (!short_of_tasks &&
          static_cast<double>(process.waiting() + 1) > *share * process.threads) {
        continue;
      }
      std::optional<Task> task = work_.next_ahead(short_of_tasks);
      if (!task) continue;
      give(process, std::move(*task));
      any = true;
    }
  }
}

void Dispatcher::recall(int idle) {
  for (const Process& process : processes_) {
    idle += std::max(process.threads - static_cast<int>(process.held.size()), 0);
  }
  const auto most = std::max_element(
      processes_.begin(), processes_.end(),
      [](const Process& a, const Process& b) { return a.waiting_seconds() < b.waiting_seconds(); });
  if (idle == 0 || most == processes_.end() || most->recalled ||
      most->waiting_seconds() < kTooLateSeconds * most->threads || work_.ahead() > 0) {
    return;
  }
  most->recalled = true;
  const auto count = std::min(static_cast<std::size_t>(idle), most->waiting());
  remote_.send(static_cast<std::size_t>(most - processes_.begin()),
               {.kind = RemoteOrder::Kind::kRecall, .count = count});
}

void Dispatcher::stop() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].held.empty() || processes_[i].stopping || processes_[i].lost) continue;
    processes_[i].stopping = true;
    remote_.send(i, {.kind = RemoteOrder::Kind::kStop});
  }
}

bool Dispatcher::all_back() const {
  return std::all_of(processes_.begin(), processes_.end(), [](const Process& process) {
    return process.lost || (process.held.empty() && !process.stopping);
  });
}

}  // namespace neutra::search
