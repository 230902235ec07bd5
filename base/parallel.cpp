#include "base/parallel.h"

#include <cstdint>
#include <exception>
#include <mutex>

#include "base/error.h"

namespace neutra {

void run_all(std::size_t count, int workers, const std::atomic<bool>* stop,
             const std::function<void(std::size_t)>& body,
             const std::function<void(std::size_t)>& done) {
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t finished = 0;
  const auto end = static_cast<std::int64_t>(count);
#pragma omp parallel for schedule(dynamic) num_threads(workers)
  for (std::int64_t i = 0; i < end; ++i) {
    {
      const std::lock_guard lock(mutex);
      if (error || (stop && stop->load())) continue;
    }
    try {
      body(static_cast<std::size_t>(i));
      const std::lock_guard lock(mutex);
      ++finished;
      if (done) done(finished);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  if (finished < count) throw Error(Exit::kInterrupted, "interrupted");
}

}  // namespace neutra
