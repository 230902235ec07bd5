#include "training/memory_gate.h"

#include <chrono>

#include "base/error.h"
#include "base/files.h"

namespace neutra::training {

MemoryGate::Share::~Share() {
  {
    const std::lock_guard lock(gate_.mutex_);
    gate_.used_ -= bytes_;
  }
  gate_.changed_.notify_all();
}

MemoryGate::Share MemoryGate::wait(std::uint64_t bytes, const TrainingJob& job) {
  constexpr auto kPollInterval = std::chrono::milliseconds(50);  // how soon a stop is seen
  std::unique_lock lock(mutex_);
  if (limit_ > 0 && bytes > limit_) {
    throw failure("--memory: found " + size_text(limit_) + ", and one training needs about " +
                  size_text(bytes) + "; allowed: more than that, or 0 for no limit");
  }
  const std::uint64_t ticket = next_ticket_++;  // first come, first served
  waiting_.insert(ticket);
  while (limit_ > 0 && (*waiting_.begin() != ticket || used_ + bytes > limit_)) {
    if (job.stop && job.stop->load()) {
      waiting_.erase(ticket);
      throw Error(Exit::kInterrupted, "interrupted");
    }
    changed_.wait_for(lock, kPollInterval);
  }
  waiting_.erase(ticket);
  used_ += bytes;
  changed_.notify_all();
  return {*this, bytes};
}

}  // namespace neutra::training
