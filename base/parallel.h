#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace neutra {

/// How far work of many parts is.
struct Tally {
  std::size_t done = 0;
  std::size_t total = 0;   ///< as far as is known
  std::size_t failed = 0;  ///< of those done
};

/// Calls `body` with 0 to count - 1 on `workers` threads. `done` (may be empty) is called after
/// each one under a lock, with the number that are. Throws the first error of a body, and
/// Error(kInterrupted) when `stop` (may be null) was set before all were done.
void run_all(std::size_t count, int workers, const std::atomic<bool>* stop,
             const std::function<void(std::size_t)>& body,
             const std::function<void(std::size_t finished)>& done = {});

}  // namespace neutra
