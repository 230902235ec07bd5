#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"

namespace neutra::serve {

/// A fault-localisation tool to be asked about an entry of a benchmark.
struct ToolQuestion {
  std::string benchmark;  ///< its name in the library
  std::string revision;   ///< of the benchmark: another one is another question
  int entry = 0;          ///< its id
  std::string tool;       ///< its name
  int runs = 1;           ///< how often it is run
  bool fixed = false;     ///< about the correct program
  bool operator==(const ToolQuestion&) const = default;
};

/// Tools that run for a server: each as a process of its own, `neutra localise`, one after the
/// other, so that neither a crash nor a long training concerns the server. Thread safe.
class ToolJobs {
 public:
  static constexpr std::size_t kWaiting = 20;  ///< questions that may wait
  static constexpr std::size_t kKept = 200;    ///< answers that are kept

  /// How tools are run.
  struct Setup {
    std::vector<std::string> command;  ///< "neutra"; words that the options come behind
    std::vector<std::string> options;  ///< "--data-dir", "DIR", "--workers", "2"
    /// Writes the fault file of a question, with its data, into a folder; returns its name. Throws
    /// Error.
    std::function<std::string(const ToolQuestion&, const std::filesystem::path&)> write_fault;
  };
  /// Starts the thread that runs the tools.
  explicit ToolJobs(Setup setup);
  ToolJobs(const ToolJobs&) = delete;
  ToolJobs& operator=(const ToolJobs&) = delete;
  ~ToolJobs();

  /// The id of the job; that of an earlier one which asks, or has answered, the same. nullopt: too
  /// many wait.
  std::optional<std::int64_t> ask(const ToolQuestion& question);
  /// What is known of a job: state "waiting", "running", "done", "failed" or "cancelled"; `answer`,
  /// which neutra localise gave, or `error`. null: there is none of that id.
  Json job(std::int64_t id) const;
  /// Those about an entry, the latest first.
  Json jobs(const std::string& benchmark, int entry) const;
  /// false: there is none of that id.
  bool cancel(std::int64_t id);
  /// Ends what runs and takes no more.
  void stop();

 private:
  struct Job {
    std::int64_t id = 0;
    ToolQuestion question;
    std::string state = "waiting";
    Json answer = nullptr;
    std::string error;
    double seconds = 0;
    std::atomic<bool> cancelled{false};
  };
  using JobPointer = std::shared_ptr<Job>;
  void work();
  void run(Job& job);
  Json json_of(const Job& job) const;
  JobPointer find(std::int64_t id) const;

  const Setup setup_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<JobPointer> jobs_;  ///< by id
  std::int64_t next_ = 1;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace neutra::serve
