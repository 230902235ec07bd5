#include "cli/stopping.h"

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "base/error.h"
#include "base/last_act.h"
#include "cli/ranks.h"

namespace neutra::cli {
namespace {

/// Rank 0 of an MPI job waits for the others, which give up after kPatience themselves.
constexpr auto kPatience = std::chrono::seconds(2), kPatienceWithRanks = std::chrono::seconds(4);

sem_t g_noted;
std::atomic<bool> g_silent{false};

void await_stop() {
  while (sem_wait(&g_noted) != 0) {
  }
  if (is_other_rank()) return;  // rank 0 says how the job ends
  if (!g_silent) std::cerr << "neutra: stopping\n" << std::flush;
  std::this_thread::sleep_for(other_ranks() ? kPatienceWithRanks : kPatience);
  begin_ending();
  do_last_acts();
  std::cout.flush();
  std::cerr << "neutra: interrupted\n" << std::flush;
  leave_ranks(static_cast<int>(Exit::kInterrupted));
  std::_Exit(static_cast<int>(Exit::kInterrupted));
}

}  // namespace

void watch_stops() {
  static const bool watched = [] {
    sem_init(&g_noted, 0, 0);
    std::thread(await_stop).detach();
    return true;
  }();
  static_cast<void>(watched);
}

void note_stop() { sem_post(&g_noted); }

void say_nothing_of_stops() { g_silent = true; }

}  // namespace neutra::cli
