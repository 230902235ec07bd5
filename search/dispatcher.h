#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/remote.h"
#include "search/work.h"

namespace neutra::search {

/// Predicts how long trainings take from those that have ended.
class Durations {
 public:
  /// A training of this program took so long.
  void learn(const Hash& program, double seconds);
  /// The mean of the program's own trainings; else the median of the last ones of all programs,
  /// which are neighbours of the same few; nullopt before the first.
  std::optional<double> predict(const Hash& program) const;
  /// Has any training ended?
  bool known() const { return !recent_.empty(); }

 private:
  static constexpr std::size_t kRecent = 31;
  std::map<Hash, std::pair<double, int>> own_;  ///< sum, count
  std::deque<double> recent_;
};

/// Deals the tasks of a search out to other processes and takes in what they report. Each of their
/// threads gets one task. Where trainings are short it gets others to go on with, a chunk, so that
/// it never waits for an answer:
///
/// - a chunk takes kShortestChunk as predicted, or more where so many threads take part that this
///   process would deal out more than kChunksPerSecond of them, up to kLongestChunk; but always a
///   second task where one takes less than kLongTask. Longer chunks gain nothing, and candidates
///   that come first wait in them. Where nothing can be predicted yet it is one task;
/// - it is the thread's share, at most, of the candidates that nobody trains, so that all end
///   together, but for some milliseconds that pass until an answer comes;
/// - where a thread has nothing to do, tasks that others have not begun are recalled.
///
/// A task counts as started in the log as long as it may be in training: the first ones that a
/// process holds, as many as it has threads. So a program counts a death for those trainings only.
///
/// Not thread safe: the executor holds a lock.
class Dispatcher {
 public:
  static constexpr double kShortestChunk = 0.05, kLongestChunk = 20;  ///< predicted seconds
  static constexpr double kLongTask = 1;                              ///< likewise
  static constexpr double kChunksPerSecond = 100;                     ///< of all processes together
  static constexpr std::size_t kTasksPerOrder = 64;                   ///< at most
  static constexpr double kReserve = 0.008;  ///< seconds to go on with while an answer is under way
  static constexpr double kShortestTask = 1e-3;    ///< seconds, at least, with what sending costs
  static constexpr double kTooLateSeconds = 0.02;  ///< what begins so soon is not recalled

  /// `job`: seed and limits of all tasks. `isolated`: suspects train in processes of their own.
  Dispatcher(Work& work, EvaluationLog& log, RemoteWorkers& remote, int local_threads,
             training::TrainingJob job, bool isolated);

  /// Has all processes get ready for the search.
  void begin(const Json& setup);
  /// Takes in what was reported; true: there was something. Throws an error that a process
  /// reported, when all is taken in, and that of a lost process.
  bool take_in();
  /// Deals out what can be; `idle`: threads of this process with nothing to do. True: something
  /// was.
  bool deal(int idle);
  /// Has all tasks given back: take_in() until all_back().
  void stop();
  /// Does no process that lives hold a task?
  bool all_back() const;
  /// A process was stopped by a signal.
  bool interrupted() const { return interrupted_; }
  /// A training of this program, wherever it was made, took so long.
  void learn(const Hash& program, double seconds) { durations_.learn(program, seconds); }

 private:
  struct Sent {
    std::uint64_t id = 0;
    Task task;
    double seconds = 0;     ///< predicted
    bool isolated = false;  ///< in a process of its own
    bool begun = false;     ///< as the log has it
  };
  struct Process {
    int threads = 0;                ///< 0: not ready yet
    std::deque<Sent> held;          ///< in the order in which it begins them
    double seconds = 0;             ///< predicted, of all of them
    bool recalled = false;          ///< an answer is under way
    bool stopping = false;          ///< likewise
    bool lost = false;              ///< what it trained stays started in the log
    std::vector<RemoteTask> order;  ///< to be sent
    std::size_t waiting() const;    ///< tasks that its threads have no time for yet
    double waiting_seconds() const;
  };

  void take(RemoteReport report);
  void fail(std::size_t process, Exit exit, const std::string& message);
  std::optional<Sent> take_back(Process& process, std::uint64_t id);
  void give_back(Process& process, const std::vector<std::uint64_t>& ids);
  void mark_begun(Process& process);
  void give(Process& process, Task task);
  bool fill_idle_threads();
  void fill_chunks();
  void recall(int idle);
  int threads() const;

  Work& work_;
  EvaluationLog& log_;
  RemoteWorkers& remote_;
  const int local_threads_;
  const training::TrainingJob job_;
  const bool isolated_;
  Durations durations_;
  std::vector<Process> processes_;
  std::optional<Error> failed_;
  bool warned_ = false;
  bool interrupted_ = false;
};

}  // namespace neutra::search
