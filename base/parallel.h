#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace neutra {

/// The progress of work in many parts.
struct Tally {
  std::size_t done = 0;
  std::size_t total = 0;   ///< of all parts that are known so far
  std::size_t failed = 0;  ///< among those done
};

/// Calls `body` with the indices 0 to count - 1 on `workers` threads, in any order. `done` (may be
/// empty) is called after each of them, under a lock, with how many are finished. Throws the first
/// error of a body, and Error(kInterrupted) when `stop` (may be null) was set before all were
/// finished.
void run_all(std::size_t count, int workers, const std::atomic<bool>* stop,
             const std::function<void(std::size_t)>& body,
             const std::function<void(std::size_t finished)>& done = {});

}  // namespace neutra
