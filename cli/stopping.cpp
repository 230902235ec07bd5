#include "cli/stopping.h"

#include <semaphore.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/last_act.h"

namespace neutra::cli {
namespace {

/// Rank 0 of an MPI job waits for the others, which give up after kPatience themselves.
constexpr auto kPatience = std::chrono::seconds(2), kPatienceWithRanks = std::chrono::seconds(4);

sem_t g_noted;  ///< posted by the handler of signals
std::atomic<bool> g_silent{false};
std::mutex g_rank_mutex;
std::optional<RankEnd> g_rank;

std::atomic<bool> g_stop{false};
std::atomic<bool> g_end_at_second{true};

/// A second signal so soon after the first is the same one, told twice: coreutils' timeout, for
/// one, signals its command and then the whole group.
constexpr std::int64_t kSameSignal = 300'000'000;  // nanoseconds
std::atomic<std::int64_t> g_first_signal{0};

std::int64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

extern "C" void on_signal(int signal) {
  const std::int64_t now = monotonic_nanoseconds();
  std::int64_t first = 0;
  if (g_first_signal.compare_exchange_strong(first, now)) {
    g_stop = true;
    sem_post(&g_noted);
    return;
  }
  if (now - first < kSameSignal) return;
  if (g_end_at_second && signal != SIGUSR2) _exit(128 + signal);
}

extern "C" void end_interrupted(int) {
  constexpr std::string_view kMessage = "neutra: interrupted\n";
  (void)!write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(static_cast<int>(Exit::kInterrupted));
}

/// Those that are ignored, as nohup has SIGHUP and a shell its background jobs' SIGINT, stay so;
/// `all`: but SIGHUP none.
void handle_signals(void (*handler)(int), bool all) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR2, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN || (all && signal != SIGHUP)) sigaction(signal, &action, nullptr);
  }
}

/// Ends this process where nothing else does.
void await_stop() {
  while (sem_wait(&g_noted) != 0) {
  }
  const std::optional<RankEnd> rank = [] {
    const std::lock_guard lock(g_rank_mutex);
    return g_rank;
  }();
  if (rank && !rank->first) return;  // rank 0 says how the job ends
  if (!g_silent) std::cerr << "neutra: stopping\n" << std::flush;
  std::this_thread::sleep_for(rank ? kPatienceWithRanks : kPatience);
  begin_ending();
  do_last_acts();
  std::cout.flush();
  std::cerr << "neutra: interrupted\n" << std::flush;
  if (rank) rank->leave(static_cast<int>(Exit::kInterrupted));
  std::_Exit(static_cast<int>(Exit::kInterrupted));
}

void watch_stops() {
  static const bool watched = [] {
    sem_init(&g_noted, 0, 0);
    std::thread(await_stop).detach();
    return true;
  }();
  static_cast<void>(watched);
}

}  // namespace

const std::atomic<bool>& stop_requested() { return g_stop; }

void catch_signals(bool end_at_second) {
  g_end_at_second = end_at_second;
  watch_stops();
  handle_signals(on_signal, true);
}

void end_on_signals() { handle_signals(end_interrupted, false); }

void require_not_stopped() {
  if (g_stop) throw Error(Exit::kInterrupted, "interrupted");
}

void say_nothing_of_stops() { g_silent = true; }

void end_with_ranks(RankEnd end) {
  const std::lock_guard lock(g_rank_mutex);
  g_rank = std::move(end);
}

}  // namespace neutra::cli
