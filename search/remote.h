#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "search/options.h"

namespace neutra::search {

/// A training that another process is to make.
struct RemoteTask {
  std::uint64_t id = 0;  ///< chosen by the search, never used twice
  Hash hash;             ///< of the program
  std::shared_ptr<const program::Program> program;
  training::TrainingJob job;  ///< without program and stop
  bool isolated = false;      ///< in a process of its own
};

/// What the search sends to a process that trains.
struct RemoteOrder {
  enum class Kind {
    kBegin,   ///< get ready for the trainings that `setup` describes
    kTrain,   ///< `tasks`, begun in this order behind those sent before
    kRecall,  ///< give back up to `count` tasks that have not begun, the last ones first
    kStop,    ///< give back every task; trainings end at their next step
    kEnd      ///< nothing more will come
  };
  Kind kind = Kind::kEnd;
  Json setup = {};                     ///< of kBegin
  std::vector<RemoteTask> tasks = {};  ///< of kTrain
  std::size_t count = 0;               ///< of kRecall
};

/// What such a process sends back.
struct RemoteReport {
  enum class Kind {
    kReady,  ///< to kBegin: it trains `threads` tasks at a time; `message`: what a user should know
    kFinished,  ///< the one task of `ids` gave `result`
    kReturned,  ///< to kRecall: `ids`, maybe none, are given back
    kStopped,   ///< to kStop, or after a signal of its own: `ids` are given back, it holds no other
    kFailed,    ///< likewise, and the search can't go on: `exit`, `message`
    kLost       ///< from the channel itself: the process has died (`message`)
  };
  Kind kind = Kind::kFinished;
  std::size_t process = 0;              ///< who; set by RemoteWorkers::receive()
  int threads = 0;                      ///< of kReady
  std::vector<std::uint64_t> ids = {};  ///< of tasks
  training::ReplicaResult result = {};  ///< of kFinished
  Exit exit = Exit::kFailed;            ///< of kFailed
  std::string message = {};             ///< for people
};

/// The search's end of the channel to processes that train. They are numbered from 0. Messages of
/// one sender arrive whole and in the order in which they were sent.
class RemoteWorkers {
 public:
  virtual ~RemoteWorkers() = default;
  virtual std::size_t size() const = 0;                     ///< how many processes
  virtual std::string name(std::size_t process) const = 0;  ///< for messages: "rank 3 on node7"
  /// Never waits for the other side.
  virtual void send(std::size_t process, RemoteOrder order) = 0;
  /// The next report, if one is there. Throws Error when the channel is broken.
  virtual std::optional<RemoteReport> receive() = 0;
};

/// The other end, in a process that trains.
class RemoteSearch {
 public:
  virtual ~RemoteSearch() = default;
  /// The next order, if one is there. Throws Error when the channel is broken.
  virtual std::optional<RemoteOrder> receive() = 0;
  virtual void send(RemoteReport report) = 0;
};

/// Orders as text. A program is written once, and again when `kKnown` others were written since:
/// one writer for each process, one reader in it.
class OrderWriter {
 public:
  static constexpr std::size_t kKnown = 256;   ///< programs that both ends keep
  std::string text(const RemoteOrder& order);  ///< one message

 private:
  std::deque<Hash> known_;
};

/// Reads what one OrderWriter wrote, all of it and in order.
class OrderReader {
 public:
  /// Throws Json::exception or Error for what no writer wrote.
  RemoteOrder order(std::string_view text);

 private:
  std::deque<std::pair<Hash, std::shared_ptr<const program::Program>>> known_;
};

/// A report as text, all but `process`.
std::string report_text(const RemoteReport& report);
/// Throws Json::exception or Error for what report_text() didn't write.
RemoteReport report_from_text(std::string_view text);

/// How long those who wait for messages sleep between two looks: longer and longer up to some
/// milliseconds, so that waiting costs next to nothing and a busy channel is read at once.
class Pause {
 public:
  void reset() { microseconds_ = kShortest; }  ///< something came: look again soon
  std::chrono::microseconds next();            ///< how long to sleep now

 private:
  static constexpr int kShortest = 20, kLongest = 2000;
  int microseconds_ = kShortest;
};

}  // namespace neutra::search
