#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

#include "training/trainer.h"

namespace neutra::training {

/// Lets trainings start while what they need together stays below a limit; first come, first
/// served. Thread safe.
class MemoryGate {
 public:
  explicit MemoryGate(std::uint64_t limit) : limit_(limit) {}  ///< bytes; 0: none

  /// Holds `bytes` until it is destroyed.
  class Share {
   public:
    Share(MemoryGate& gate, std::uint64_t bytes) : gate_(gate), bytes_(bytes) {}
    Share(const Share&) = delete;
    ~Share();

   private:
    MemoryGate& gate_;
    std::uint64_t bytes_;
  };

  /// Waits for `bytes`. Throws Error where they are more than the limit, and when the job is
  /// stopped meanwhile.
  Share wait(std::uint64_t bytes, const TrainingJob& job);

 private:
  const std::uint64_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t used_ = 0, next_ticket_ = 0;
  std::set<std::uint64_t> waiting_;  ///< tickets
};

}  // namespace neutra::training
